DROP TABLE messor.provider_holds;
