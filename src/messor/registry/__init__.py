"""Domains: submission, approval, crawl terms and the rules of status changes."""
