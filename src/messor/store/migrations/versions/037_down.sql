DROP TABLE messor.clock_watch;
DROP TRIGGER stamp_pace ON messor.lanes;
DROP FUNCTION messor.stamp_pace();
ALTER TABLE messor.lanes DROP paced_at;
