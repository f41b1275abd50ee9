import type { FlagRow } from '../../../shared/flags/flag-row';

/** What administrators may look into, and what browsers are told. */
export const OPERATION_FLAGS = [
  {
    name: 'profiling',
    type: 'bool',
    default: true,
    group: 'Generic',
    help: 'Serve CPU and heap profiles of this process at /debug/pprof/, to whoever may get that path.',
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
] as const satisfies readonly FlagRow[];
