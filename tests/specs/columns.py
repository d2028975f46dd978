"""The columns that the five specifications print, by the schema that answers to their names.

A column is its name, the family of its type, whether NULL is excluded, and its default.
"""

from __future__ import annotations

_TEXT = """
wellness.jobs
  id uuid not null = gen_random_uuid()
  job_type text not null
  target_kind text not null
  target_id uuid
  target_url text
  input_hash text
  prompt_version text
  model text
  dedupe_key text not null
  state text = 'queued'
  result_json json
  priority integer = 0
  available_at timestamp not null = NOW()
  locked_at timestamp
  lock_expires_at timestamp
  locked_by text
  attempts integer = 0
  max_attempts integer = 3
  created_at timestamp = NOW()
  started_at timestamp
  finished_at timestamp
wellness.domains
  id uuid not null = gen_random_uuid()
  domain text not null
  domain_class text = 'unknown'
  last_request_at timestamp
  cooldown_until timestamp
  created_at timestamp = NOW()
  updated_at timestamp = NOW()
wellness.http_fetches
  id uuid not null = gen_random_uuid()
  page_id uuid
  url text not null
  domain_id uuid
  status_code integer
  final_url text
  headers_json json
  duration_ms integer
  fetch_provider text = 'n8n'
  provider_cost number
  quality_gate_failed text
  error_json json
  fetched_at timestamp = NOW()
wellness.page_html
  id uuid not null = gen_random_uuid()
  page_id uuid
  content_hash text not null
  raw_html text
  html_gzip bytes
  fetched_at timestamp = NOW()
wellness.page_content
  id uuid not null = gen_random_uuid()
  page_id uuid
  content_hash text not null
  markdown text
  word_count integer
  provider text
  fetched_at timestamp = NOW()
wellness.vertical_services
  id uuid not null = gen_random_uuid()
  vertical_id uuid not null
  service_name text not null
  synonyms text[] = '{}'
  intent text = 'commercial'
  active boolean = TRUE
wellness.serp_profiles
  id uuid not null = gen_random_uuid()
  vertical_id uuid not null
  name text not null
  gl text = 'sg'
  hl text = 'en'
  device text = 'desktop'
  location text = 'Singapore'
  uule text
wellness.geo_sets
  id uuid not null = gen_random_uuid()
  name text not null
  modifiers text[] not null
  priority_order integer = 0
wellness.keyword_templates
  id uuid not null = gen_random_uuid()
  template text not null
  geo_set_id uuid
  language text = 'en'
wellness.keywords
  id uuid not null = gen_random_uuid()
  keyword_text text not null
  serp_profile_id uuid not null
  vertical_id uuid not null
  tier text = 'C'
  source text = 'manual'
  seed_keyword_id uuid
  active boolean = TRUE
  last_snapshot_at timestamp
  created_at timestamp = NOW()
wellness.serp_snapshots
  id uuid not null = gen_random_uuid()
  keyword_id uuid not null
  serp_profile_id uuid not null
  raw_json json
  raw_hash text
  captured_at timestamp = NOW()
wellness.serp_results
  id uuid not null = gen_random_uuid()
  snapshot_id uuid not null
  rank_position integer not null
  block_type text not null
  domain_id uuid
  url text
  title text
  snippet text
wellness.pages
  domain_id uuid
  sitemap_lastmod timestamp
  last_crawled_at timestamp
  last_http_status integer
  last_content_hash text
  page_type text
  type_conf float = 0
wellness.sitemaps
  depth integer = 0
  parent_sitemap_id uuid
  locked_at timestamp
  lock_expires_at timestamp
  locked_by text
  attempts integer = 0
  error_json json
forager.domains
  id integer not null
  domain_name text not null
  base_url text not null
  crawl_delay_seconds integer = 1
  max_concurrent_requests integer = 5
  is_active boolean = TRUE
  created_at timestamp = NOW()
  updated_at timestamp = NOW()
forager.crawl_tasks
  id integer not null
  domain_id integer not null
  url text not null
  url_hash text not null
  status text not null
  priority integer = 5
  scheduled_at timestamp not null
  started_at timestamp
  completed_at timestamp
  retry_count integer = 0
  max_retries integer = 3
  error_message text
  crawl_frequency interval = '1 day'
  next_crawl_at timestamp
  html_path text
  created_at timestamp = NOW()
  updated_at timestamp = NOW()
forager.products
  id integer not null
  domain_id integer not null
  crawl_task_id integer
  url text not null
  url_hash text not null
  product_name text not null
  description text
  price number
  currency text = 'USD'
  availability text
  rating number
  review_count integer
  brand text
  category text
  sku text
  content_hash text
  metadata json
  created_at timestamp = NOW()
  updated_at timestamp = NOW()
forager.images
  id integer not null
  product_id integer not null
  image_url text not null
  image_path text
  alt_text text
  image_type text = 'primary'
  position integer = 0
  width integer
  height integer
  file_size integer
  created_at timestamp = NOW()
forager.proxies
  id integer not null
  proxy_url text not null
  proxy_port integer not null
  proxy_protocol text = 'http'
  proxy_username text
  proxy_password text
  is_active boolean = TRUE
  failure_count integer = 0
  success_count integer = 0
  last_used_at timestamp
  last_success_at timestamp
  last_failure_at timestamp
  avg_response_time_ms integer
  created_at timestamp = NOW()
  updated_at timestamp = NOW()
forager.error_logs
  crawl_task_id integer
  error_type text
  error_message text
  stack_trace text
  occurred_at timestamp
approval.domains
  id uuid not null
  domain_url text not null
  scrape_frequency_hours integer = 24
  last_scraped_at timestamp
  active boolean = true
  status text
  submitted_by uuid
  submitter_type text
  submission_context text
  reviewed_by uuid
  reviewed_at timestamp
  rejection_reason text
  max_crawl_depth integer = 3
  crawl_rate_limit_seconds integer = 2
  is_trusted_domain boolean = false
  created_at timestamp = NOW()
  updated_at timestamp = NOW()
funding.domain
  domain_id uuid not null = gen_random_uuid()
  domain_name text not null
  status enum not null = 'DISCOVERED'
  discovered_at timestamp not null = NOW()
  discovery_session_id uuid
  last_processed_at timestamp
  processing_count integer not null = 0
  best_confidence_score float
  high_quality_candidate_count integer not null = 0
  low_quality_candidate_count integer not null = 0
  blacklisted_by uuid
  blacklisted_at timestamp
  blacklist_reason text
  no_funds_year integer
  notes text
  failure_reason text
  failure_count integer not null = 0
  retry_after timestamp
funding.funding_source_candidate
  domain_id uuid
orbit.domain_risk
  hostname text not null
  risk_score integer = 0
  friction_events json = '[]'
  last_fetch_at timestamp
  created_at timestamp
  updated_at timestamp
orbit.url_fetch_cache
  url_hash text not null
  url text not null
  hostname text not null
  content text
  status_code integer
  headers json
  content_hash text
  fetched_at timestamp
  expires_at timestamp
orbit.ingestion_runs
  id integer not null
  trace_id text not null
  orbit_slug text not null
  mode text not null
  started_at timestamp
  completed_at timestamp
  outcome text
  evidence json
"""


def _tables(text: str) -> dict[str, str]:
    """What is specified of each column, by its full name."""
    found, table = {}, ""
    for line in text.strip().splitlines():
        if not line.startswith(" "):
            table = line
            continue
        name, rest = line.split(maxsplit=1)
        found[f"{table}.{name}"] = rest
    return found


SPECIFIED_COLUMNS = _tables(_TEXT)
