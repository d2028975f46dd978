DROP TABLE messor.rankings;
DROP TABLE messor.corrections;
