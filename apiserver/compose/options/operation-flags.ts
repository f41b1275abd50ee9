import type { FlagRow } from '../../../shared/flags/flag-row';

/** Flags for profiling, browser headers and client connections. */
export const OPERATION_FLAGS = [
  {
    name: 'profiling',
    type: 'bool',
    default: true,
    group: 'Generic',
    help: 'Serve CPU and heap profiles of this process at /debug/pprof/, to users who are authorized for that path.',
  },
  {
    name: 'enable-object-import',
    type: 'bool',
    default: false,
    group: 'Generic',
    help: 'Accept objects as they were stored by another server, with their uids, owners, status and times, from members of system:masters: for orch-admin import.',
  },
  {
    name: 'identity-lease-duration-seconds',
    type: 'int',
    default: 3_600,
    min: 1,
    max: 2_147_483_647,
    group: 'Generic',
    help: 'How long after its last renewal the lease of a replica is removed by others, in seconds, and how often they look. With the feature gate APIServerIdentity.',
  },
  {
    name: 'identity-lease-renew-interval-seconds',
    type: 'int',
    default: 10,
    min: 1,
    max: 2_147_483,
    group: 'Generic',
    help: 'How often a replica renews its lease, in seconds. With the feature gate APIServerIdentity.',
  },
  {
    name: 'cors-allowed-origins',
    type: 'stringList',
    default: [],
    group: 'Generic',
    help: 'Regular expressions of origins, separated by commas: pages that come from one of them may send requests with credentials and read the answers. Without any, pages of other origins may not. Anchor them: an expression also matches in the middle of an origin.',
  },
  {
    name: 'strict-transport-security-directives',
    type: 'stringList',
    default: [],
    group: 'Generic',
    help: 'Directives of the header Strict-Transport-Security of every answer, separated by commas: max-age=31536000,includeSubDomains,preload. Without any, the header is not sent.',
  },
  {
    name: 'enable-http2',
    type: 'bool',
    default: true,
    group: 'Secure serving',
    help: 'Offer HTTP/2 beside HTTP/1.1 on the same port: clients that choose it send all of their requests over one connection. false: HTTP/1.1 alone.',
  },
  {
    name: 'http2-max-streams-per-connection',
    type: 'int',
    default: 0,
    min: 0,
    max: 100_000,
    group: 'Secure serving',
    help: 'The maximum number of requests in flight on one HTTP/2 connection, watches included. 0 means 250.',
  },
  {
    name: 'goaway-chance',
    type: 'string',
    default: '0',
    group: 'Secure serving',
    help: 'The part of the requests over HTTP/2 after which their connection takes no further ones (GOAWAY), so that clients behind a balancer spread over all servers: from 0 (never) to 0.02; 0.001 is a good start. Only with several servers behind a balancer.',
  },
] as const satisfies readonly FlagRow[];
