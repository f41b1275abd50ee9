/** A metric that a rule, an alert or a panel reads, with the labels that it selects or groups by. */
export interface QueriedMetric {
  readonly name: string;
  readonly labels: readonly string[];
  /** Histogram bounds in queries. */
  readonly bounds?: readonly string[];
}

/**
 * The metrics of API servers that kubernetes-mixin queries (github.com/kubernetes-monitoring/kubernetes-mixin, July 2025: rules/kube_apiserver-*,
 * alerts/kube_apiserver, alerts/system_alerts, dashboards/apiserver), and those of its releases for v1.21.
 */
export const API_SERVER_METRICS: readonly QueriedMetric[] = [
  { name: 'apiserver_request_total', labels: ['verb', 'code', 'resource', 'subresource'] },
  {
    name: 'apiserver_request_sli_duration_seconds_bucket',
    labels: ['verb', 'scope', 'resource', 'subresource', 'le'],
    bounds: ['1', '5', '30'],
  },
  { name: 'apiserver_request_sli_duration_seconds_count', labels: ['verb', 'resource', 'subresource'] },
  {
    name: 'apiserver_request_duration_seconds_bucket',
    labels: ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component', 'le'],
    // All bounds of v1.21; there are smaller ones as well.
    bounds:
      '0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.25 1.5 1.75 2 2.5 3 3.5 4 4.5 5 6 7 8 9 10 15 20 25 30 40 50 60 +Inf'.split(
        ' ',
      ),
  },
  { name: 'apiserver_request_duration_seconds_count', labels: ['verb', 'resource', 'subresource'] },
  { name: 'apiserver_request_terminations_total', labels: ['verb', 'resource', 'code'] },
  { name: 'apiserver_client_certificate_expiration_seconds_bucket', labels: ['le'], bounds: ['604800'] },
  { name: 'apiserver_client_certificate_expiration_seconds_count', labels: [] },
  {
    name: 'apiserver_response_sizes_bucket',
    labels: ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component', 'le'],
    bounds: ['1000', '1e+06', '1e+09'],
  },
  { name: 'apiserver_current_inflight_requests', labels: ['request_kind'] },
  { name: 'apiserver_registered_watchers', labels: ['group', 'version', 'kind'] },
  { name: 'apiserver_watch_events_total', labels: ['group', 'version', 'kind'] },
  { name: 'apiserver_init_events_total', labels: ['resource'] },
  { name: 'apiserver_longrunning_gauge', labels: ['verb', 'resource', 'scope', 'component'] },
  { name: 'apiserver_tls_handshake_errors_total', labels: [] },
  { name: 'apiserver_storage_objects', labels: ['resource'] },
  { name: 'etcd_object_counts', labels: ['resource'] },
  {
    name: 'etcd_request_duration_seconds_bucket',
    labels: ['operation', 'type', 'le'],
    bounds: ['0.005', '60'],
  },
  { name: 'etcd_db_total_size_in_bytes', labels: ['endpoint'] },
  { name: 'authentication_token_cache_request_total', labels: ['status'] },
  { name: 'authentication_token_cache_fetch_total', labels: ['status'] },
  { name: 'authentication_token_cache_request_duration_seconds_bucket', labels: ['status', 'le'] },
  { name: 'authentication_token_cache_active_fetch_count', labels: ['status'] },
  { name: 'workqueue_adds_total', labels: ['name'] },
  { name: 'workqueue_depth', labels: ['name'] },
  { name: 'workqueue_queue_duration_seconds_bucket', labels: ['name', 'le'] },
  { name: 'kubernetes_build_info', labels: ['git_version', 'major', 'minor'] },
  { name: 'process_cpu_seconds_total', labels: [] },
  { name: 'process_resident_memory_bytes', labels: [] },
];

/** The same of controller-managers (alerts/kube_controller_manager, alerts/system_alerts, dashboards/controller-manager). */
export const CONTROLLER_MANAGER_METRICS: readonly QueriedMetric[] = [
  { name: 'workqueue_adds_total', labels: ['name'] },
  { name: 'workqueue_depth', labels: ['name'] },
  { name: 'workqueue_queue_duration_seconds_bucket', labels: ['name', 'le'], bounds: ['1e-08', '10'] },
  { name: 'workqueue_work_duration_seconds_bucket', labels: ['name', 'le'] },
  { name: 'workqueue_retries_total', labels: ['name'] },
  { name: 'rest_client_requests_total', labels: ['code', 'method', 'host'] },
  { name: 'rest_client_request_duration_seconds_bucket', labels: ['verb', 'url', 'le'] },
  { name: 'leader_election_master_status', labels: ['name'] },
  { name: 'kubernetes_build_info', labels: ['git_version'] },
  { name: 'process_cpu_seconds_total', labels: [] },
  { name: 'process_resident_memory_bytes', labels: [] },
];

/** Metrics of the mixin that we do not export, with the reason. */
export const WITHOUT_SUBJECT: readonly { readonly name: string; readonly reason: string }[] = [
  { name: 'go_goroutines', reason: 'there are none; nodejs_eventloop_lag_seconds tells of the load' },
  { name: 'aggregator_unavailable_apiservice', reason: 'no API is aggregated' },
  { name: 'aggregator_unavailable_apiservice_total', reason: 'no API is aggregated' },
  { name: 'rest_client_requests_total', reason: 'API servers are no clients of themselves' },
];
