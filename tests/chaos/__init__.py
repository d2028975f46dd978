"""Tests of the chaos checker, and one short crawl under harm."""
