-- Text as both documents and queries are compared: without accents, marks of Arabic and Hebrew, and what
-- nobody sees (soft hyphens, zero-width letters). Letters that do not come apart into a letter and its mark
-- are named one by one. Chinese and Japanese put no space between words: each of their letters becomes a
-- word, and a word of several letters is searched as a phrase. Plain ASCII stays as it is.
CREATE OR REPLACE FUNCTION messor.fold(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(given) = length(given) THEN given ELSE
    regexp_replace(
      replace(replace(replace(replace(replace(translate(
        regexp_replace(normalize(given, NFKD),
          '[\u0300-\u036F\u00AD\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u0610-\u061A\u0640\u064B-\u065F\u0670\u200B-\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]',
          '', 'g'),
        'łŁøØđĐħĦıŧŦðÐ', 'lLoOdDhHitTdD'),
        'ß', 'ss'), 'æ', 'ae'), 'Æ', 'AE'), 'œ', 'oe'), 'Œ', 'OE'),
      '([\u3005-\u3007\u3041-\u3096\u30A1-\u30FA\u31F0-\u31FF\u3400-\u4DBF\u4E00-\u9FFF\U00020000-\U0003FFFF][\u3099\u309A]?)',
      ' \1 ', 'g') END
$$;
