DROP VIEW messor.images;
DROP TABLE messor.parser_trials, messor.parser_pins, messor.product_images, messor.product_prices, messor.products,
           messor.record_changes, messor.records, messor.extractions, messor.extraction_due;
