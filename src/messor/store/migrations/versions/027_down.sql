DROP TABLE messor.traffic_halts;
