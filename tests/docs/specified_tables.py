"""What docs/requirements.md requires of tables and views, as sentences about the schema."""

from __future__ import annotations

_TEXT = """
AMI-02
  organisations.vertical_id uuid not null
  organisations.vertical_id refers to verticals
  keywords.vertical_id uuid not null
  clinics.vertical_id
AMI-03
  unique keywords (keyword_text, serp_profile_id)
AMI-06
  verticals.id
  clinics.id
  pages.id
  sitemaps.page_id
AMI-08
  jobs.id uuid not null
  jobs.job_type text not null
  jobs.target_kind text not null
  jobs.target_id uuid
  jobs.target_url text
AMI-13
  jobs.attempts smallint not null default 0
  jobs.max_attempts smallint not null default 3
  jobs.created_at timestamptz not null default clock()
  jobs.started_at timestamptz
  jobs.finished_at timestamptz
AMI-14
  index idx_jobs_claim on jobs (job_type, priority, available_at)
AMI-16
  domains.domain_class text not null default 'unknown'
  hosts.last_request_at timestamptz
  hosts.cooldown_until timestamptz
AMI-17
  pages.host_id bigint not null
  pages.sitemap_lastmod timestamptz
  crawl_tasks.last_fetched_at timestamptz
  crawl_task_status.last_crawled_at
AMI-19
  sitemaps.depth smallint not null default 0
  sitemaps.parent_id bigint
AMI-20
  sitemaps.attempts integer not null default 0
  sitemaps.error_json jsonb
AMI-21
  http_fetches.id bigint not null
  http_fetches.page_id bigint not null
  http_fetches.host_id bigint not null
  http_fetches.fetched_at timestamptz not null
AMI-22
  http_fetches.status_code smallint
  http_fetches.final_url text
  http_fetches.headers_json jsonb
  http_fetches.duration_ms integer not null
  http_fetches.error_json jsonb
AMI-23
  http_fetches.fetch_provider text not null default 'http'
  http_fetches.provider_cost numeric
  http_fetches.quality_gate_failed text
AMI-24
  index idx_fetches_page on http_fetches (page_id, fetched_at)
AMI-25
  page_html.page_id
  page_html.content_hash
  page_html.segment_id
  page_html.segment_offset
  page_html.segment_length
  page_html.fetched_at
  unique page_html (page_id, content_hash)
AMI-26
  page_content.page_id
  page_content.content_hash
  page_content.markdown
  page_content.word_count
  page_content.provider
  page_content.fetched_at
  unique page_content (page_id, content_hash)
AMI-27
  vertical_services.vertical_id uuid not null
  vertical_services.vertical_id refers to verticals
  vertical_services.service_name text not null
  unique vertical_services (vertical_id, service_name)
  vertical_services.synonyms text[] not null default '{}'
  vertical_services.intent text not null default 'commercial'
  vertical_services.active boolean not null default true
AMI-28
  serp_profiles.vertical_id uuid not null
  serp_profiles.vertical_id refers to verticals
  serp_profiles.name text not null
  unique serp_profiles (vertical_id, name)
  serp_profiles.gl text not null default 'sg'
  serp_profiles.hl text not null default 'en'
  serp_profiles.device text not null default 'desktop'
  serp_profiles.location text not null default 'Singapore'
  serp_profiles.uule text
AMI-29
  geo_sets.name text not null
  unique geo_sets (name)
  geo_sets.modifiers text[] not null
  geo_sets.priority_order integer not null default 0
AMI-30
  keyword_templates.template text not null
  keyword_templates.geo_set_id refers to geo_sets
  keyword_templates.language text not null default 'en'
AMI-31
  keywords.keyword_text text not null
  keywords.serp_profile_id uuid not null
  keywords.vertical_id uuid not null
  keywords.tier text not null default 'C'
  keywords.source text not null default 'manual'
  keywords.active boolean not null default true
AMI-32
  keywords.seed_keyword_id refers to keywords
  keywords.last_snapshot_at timestamptz
  keywords.created_at timestamptz not null default clock()
AMI-33
  serp_snapshots.keyword_id uuid not null
  serp_snapshots.serp_profile_id uuid not null
  serp_snapshots_raw.raw_json
  serp_snapshots_raw.raw_hash
AMI-34
  unique serp_snapshots (keyword_id, serp_profile_id, captured_at)
  serp_snapshots.captured_at timestamptz not null default clock()
AMI-35
  serp_results.snapshot_id uuid not null
  serp_results.rank_position integer not null
  serp_results.domain_id refers to domains
  serp_results.url text
  serp_results.title text
  serp_results.snippet text
AMI-36
  serp_results.block_type text not null
AMI-37
  unique serp_results (snapshot_id, rank_position, block_type)
AMI-70
  jobs.id
  domains.id
  http_fetches.id
  page_html.id
  page_content.id
  vertical_services.id
  serp_snapshots.id
  serp_results.id
FOR-52
  domains.id uuid not null
  domains.domain text not null
  unique domains (domain)
  domains.base_url text not null
FOR-53
  domains.crawl_delay_seconds real
  domains.max_concurrent_requests smallint not null default 5
FOR-54
  domains.active boolean not null default true
  domains.created_at timestamptz not null default clock()
  domains.updated_at timestamptz not null default clock()
FOR-55
  crawl_tasks.page_id bigint not null
  crawl_task_status.domain_id
  pages.url text not null
  page_snapshots.segment_id bigint not null
FOR-57
  crawl_tasks.priority smallint not null default 5
  jobs.priority smallint not null default 5
FOR-59
  crawl_tasks.retry_count smallint not null default 0
  crawl_tasks.max_retries smallint not null default 3
  crawl_tasks.error_message text
FOR-60
  crawl_tasks.crawl_frequency interval
  crawl_task_status.next_crawl_at
FOR-61
  unique crawl_tasks (page_id)
  index crawl_tasks_due on crawl_tasks (host_id, priority, due_at)
  unique pages (host_id, url_hash)
FOR-62
  products.id bigint not null
  products.domain_id uuid not null
  products.page_id bigint not null
  products.url text not null
FOR-64
  products.price numeric
  products.currency text
FOR-65
  products.availability text
  products.rating numeric
  products.review_count bigint
FOR-66
  products.brand text
  products.category text
  products.sku text
FOR-67
  products.content_hash bytea not null
  products.metadata jsonb not null default '{}'
  products.created_at timestamptz not null
  products.updated_at timestamptz not null
FOR-68
  index idx_products_domain_id on products (domain_id)
  index idx_products_price on products (price)
  index idx_products_availability on products (availability)
  index idx_products_created_at on products (created_at)
  index idx_products_url_hash on products (url_hash)
  unique products (page_id)
FOR-69
  images.id
  product_images.product_id bigint not null
  product_images.image_url text not null
  product_images.image_path text
  product_images.alt_text text
  product_images.created_at timestamptz not null default clock()
FOR-70
  product_images.image_type text not null default 'primary'
  product_images.image_type is one of primary, gallery, thumbnail
  product_images.position integer not null default 0
  product_images.width integer
  product_images.height integer
  product_images.file_size integer
FOR-71
  proxies.proxy_url text not null
  proxies.proxy_port integer not null
  proxies.proxy_protocol text not null default 'http'
  proxies.proxy_protocol is one of http, https, socks5
FOR-73
  proxies.is_active boolean not null default true
  proxies.failure_count integer not null default 0
  proxies.success_count bigint not null default 0
  proxies.last_used_at timestamptz
  proxies.last_success_at timestamptz
  proxies.last_failure_at timestamptz
  proxies.avg_response_time_ms integer
  proxies.created_at timestamptz not null default clock()
  proxies.updated_at timestamptz not null default clock()
FOR-74
  index idx_proxies_last_used_at on proxies (last_used_at)
FOR-75
  unique products (page_id)
  unique product_images (product_id, url_hash)
FOR-76
  pages.url_hash bytea not null
  unique pages (host_id, url_hash)
  products.url_hash bytea not null
DOM-03
  domains.status text not null default 'pending_review'
  domains.max_crawl_depth smallint not null default 3
DOM-12
  domains.submitted_by text not null
  domains.submitter_type is one of admin, public_user, system
  domains.submission_context text
DOM-13
  domains.reviewed_by text
  domains.reviewed_at timestamptz
  domains.rejection_reason text
DOM-14
  domains.max_crawl_depth smallint not null default 3
  domains.crawl_delay_seconds real
DOM-15
  domains.is_trusted_domain boolean not null default false
DOM-21
  unique page_snapshots (page_id, content_hash, data_hash)
FUN-05
  domain.discovered_at
  domains.created_at timestamptz not null default clock()
  domains.discovery_session_id refers to discovery_sessions
FUN-06
  domains.processing_count integer not null default 0
FUN-07
  domains.high_quality_candidate_count integer not null default 0
  domains.low_quality_candidate_count integer not null default 0
FUN-10
  domains.failure_count integer not null default 0
FUN-12
  unique domains (domain)
  index idx_domain_status on domains (processing)
  index idx_domain_discovered_at on domains (created_at)
  index idx_domain_last_processed on domains (last_processed_at)
FUN-13
  index idx_domain_retry on domains (processing, retry_after)
FUN-17
  candidates.domain_id uuid
  candidates.domain_id refers to domains
FUN-18
  candidates.status is one of PENDING_CRAWL, PENDING_REVIEW, IN_REVIEW, APPROVED, REJECTED, SKIPPED_LOW_CONFIDENCE
FUN-19
  candidates.url text not null
  candidates.title text not null default ''
  candidates.snippet text not null default ''
  candidates.search_engine text not null
  candidates.search_query text not null
  candidates.position integer not null
FUN-24
  judgements.judge text not null
  judgements.score double precision not null
  judgements.weight double precision not null default 1
  judgements.explanation text not null
FUN-26
  candidates.validation_notes jsonb not null
FUN-30
  candidates.session_id refers to discovery_sessions
FUN-47
  domain.domain_id
  domain.domain_name
  domain.status
FUN-48
  funding_source_candidate.domain_id
  candidates.status is one of PENDING_CRAWL, PENDING_REVIEW, IN_REVIEW, APPROVED, REJECTED, SKIPPED_LOW_CONFIDENCE
ORB-25
  url_fetch_cache.content
  url_fetch_cache.status_code
  url_fetch_cache.headers
  url_fetch_cache.content_hash
ORB-38
  domain_risk.hostname
  domain_risk.risk_score
  domain_risk.friction_events
  domain_risk.last_fetch_at
  domain_risk.created_at
  domain_risk.updated_at
ORB-39
  url_fetch_cache.url_hash
  url_fetch_cache.url
  url_fetch_cache.hostname
  url_fetch_cache.fetched_at
  url_fetch_cache.expires_at
ORB-40
  ingestion_runs.trace_id text not null
  unique ingestion_runs (trace_id)
  ingestion_runs.orbit_slug text not null
  ingestion_runs.mode text not null
  ingestion_runs.started_at timestamptz not null default clock()
  ingestion_runs.completed_at timestamptz
  ingestion_runs.outcome text
  ingestion_runs.evidence jsonb
"""


def _read(text: str) -> dict[str, list[str]]:
    rows: dict[str, list[str]] = {}
    for line in text.strip().splitlines():
        if line.startswith("  "):
            rows[next(reversed(rows))].append(line.strip())
        else:
            rows[line] = []
    return rows


SPECIFIED = _read(_TEXT)
