-- Creates the database of compose.yaml, and the user of the service, who owns it and has no other privileges. The image of
-- PostgreSQL runs this file once, when it creates the volume.
\set password `cat /run/secrets/plants-password`
CREATE ROLE plants LOGIN PASSWORD :'password';
CREATE DATABASE plants OWNER plants;
