"""Words in class and id names, by what they say about an element's role.

Each is a stem; "$" requires the whole word; "read-more" stands for two consecutive words, however
joined (read-more, readMore, read_more, readmore).
"""

from __future__ import annotations

STEMS = {
    "comments": """
        comment commentaire comentario commento kommentar komentar komment yorum disqus respond$
        replies reply talkback livefyre discussion reactions opmerking""",
    "related": """
        related recirc recommend popular trending most-read most-view more-stories more-news
        more-articles more-posts more-from more-on$ more-in$ more-about more-links more-content
        more-like more-headlines read-more read-next read-also also-read also-like also-see see-also
        see-more similar next-up next-article next-post next-story next-click up-next prev-next
        previous-post previous-article you-may you-might outbrain taboola zergnet teaser verwandt
        aehnlich relacionad correlat relate$ promoted suggested suggestion further-reading latest
        linkback editor-pick editors-pick yarpp other-stories other-news other-articles other-posts
        inline-link inline-story inline-article inline-promo story-links ribbon rollover lire-aussi
        leia-mais mehr-zum crosslink""",
    "share": """
        share sharing social sharedaddy addthis addtoany a2a$ shariff teilen compartir compartilh
        partage condividi bookmark follow$ follow-us$ follow-me$ follow-button follow-link follow-on$
        click-to tweet-button like-button swp$ sd-block sd-content post-flair print-button print-link
        whatsapp email-link tool-bar article-tools utility toolbox rating-widget rating-box
        pd-rating""",
    "signup": """
        newsletter subscri sign-up$ opt-in$ cta$ call-to paywall donat membership lead-magnet
        lead-form lead-gen mailchimp mc-embed regwall register log-in$ login sign-in$ abonn piano
        survey download-box conversion quiz poll$""",
    "advert": """
        ad$ ads$ advert ad-slot ad-unit ad-wrap ad-box ad-container ad-zone ad-space ad-block
        ad-label adsense adsbygoogle sponsor dfp gpt$ banner-ad werbung anzeige publicidad pub$
        commerce affiliate disclosure paid$ wpcnt shopping buy-box buy-button buy-now product-box
        product-card product-widget""",
    "navigation": """
        nav$ navbar navigation menu breadcrumb crumb pagination pager$ paging page-links page-nav
        page-numbers post-nav toc$ table-of jump-to jump-link skip$ skip-link tabs$ tablist
        site-index sitemap masthead top-bar subnav language-switch language-select ticker""",
    "footer": "footer foot$ colophon copyright legal$ bottom-bar fusszeile",
    "sidebar": "sidebar side-bar side$ rail$ right-rail right-col right-bar aside",
    "byline": """
        byline by-line author dateline date$ datetime pubdate pub-date publish posted-on$
        posted-by$ posted-in$ timestamp time-stamp time$ meta$ metadata post-meta post-info
        entry-info article-info submitted reporter autor verfasser auteur writer contributor bio$
        biograph about-the vcard tag$ tags$ tag-list tag-cloud tag-links topic$ topics$ keyword$
        keywords$ categor taxonom credit$ credits$ source$ read-time reading-time last-updated
        last-modified updated$ kicker eyebrow section-label section-name avatar view-count views$
        disclaimer agency label$ labels$ permalink time-ago slug""",
    "caption": """
        caption img-credit img-desc img-cap image-credit image-desc image-cap image-info
        image-source image-meta image-text photo-credit photo-desc photo-cap photo-info photo-source
        photo-by$ photograph media-credit media-desc media-cap media-info cutline figcaption
        bildunterschrift legende didascalia slideshow gallery carousel player video-desc video-cap
        video-title video-info video-meta video-player video-js$ slider image-box slide$ swiper
        jwplayer thumb""",
    "dialog": """
        popup pop-up$ modal overlay toast notification notice$ alert tooltip lightbox adblock
        interstitial banner$ flyout drawer popover dropdown""",
    "consent": "cookie consent gdpr ccpa onetrust privacy-overview",
    "hidden": """
        hidden$ hide$ invisible sr-only screen-reader visually-hidden print-only noprint no-print
        d-none$ no-content nocontent offscreen fallback no-js$ noscript""",
    "form": "search-form search-box search-bar contact-form wpcf feedback",
    "body": """
        article-body article-content article-text article-copy article-main article-page
        article-entry post-body post-content post-text post-entry entry-body entry-content
        entry-text entry$ story-body story-content story-text story-copy blog-body blog-content
        blog-text news-body news-content news-text single-content node-content node-body page-body
        page-content page-text main-body main-content main-text body-content body-text body-copy
        text-body text-content rich-text content-body content-article content-text content-main
        content-inner name-body artikel-text texto cuerpo contenu contenido prose markdown-body rte$
        wysiwyg paragraph$ paragraphs$""",
    "article": """
        article$ post$ story$ hentry h-entry$ type-post blog-post single-post artikel articulo
        noticia""",
    "widget": "widget module promo box$",
    "main": "main$ content$ primary$ maincontent contents$ inhalt",
}
