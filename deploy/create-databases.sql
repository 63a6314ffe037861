-- One database for each control plane. Postgres runs this once, when its data folder is new.
CREATE DATABASE causeway_global;
CREATE DATABASE causeway_east;
CREATE DATABASE causeway_west;
