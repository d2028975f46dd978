DROP TABLE messor.alarms;
