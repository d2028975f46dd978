DROP TABLE messor.scores, messor.class_lessons, messor.domain_classes;
DROP TRIGGER extractions_new_search ON messor.extractions;
DROP TRIGGER extractions_changed_search ON messor.extractions;
DROP FUNCTION messor.want_search();
DROP TABLE messor.search_due, messor.search_documents;
DROP FUNCTION messor.search_words(text, text, text, text);
DROP FUNCTION messor.figure(text);
DROP FUNCTION messor.text_config(text);
DROP FUNCTION messor.fold(text);
