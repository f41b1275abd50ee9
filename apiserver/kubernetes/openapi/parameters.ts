import { ownKeyMap } from '../../../shared/own-key-map';
import { isInForce } from '../../../shared/api/changes';

/** One parameter of the path or the query. */
export interface Parameter {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

const CONTINUE = text('continue', 'The position of the next page: metadata.continue of the previous one.');
const FIELD_SELECTOR = text(
  'fieldSelector',
  'Restricts the list of returned objects by their fields, as in metadata.name=web.',
);
const LABEL_SELECTOR = text(
  'labelSelector',
  'Restricts the list of returned objects by their labels, as in app=web,tier!=test.',
);
const LIMIT = integer('limit', 'The maximum number of objects in one page.');
const RESOURCE_VERSION = text(
  'resourceVersion',
  'The minimum version of the response, or the version after which a watch starts.',
);
const RESOURCE_VERSION_MATCH = text(
  'resourceVersionMatch',
  'The interpretation of resourceVersion: Exact or NotOlderThan.',
);
const TIMEOUT = integer('timeoutSeconds', 'The time limit of the request.');
const WATCH = flag('watch', 'Watch for changes to the described resources instead of listing them.');
const BOOKMARKS = flag(
  'allowWatchBookmarks',
  'Send bookmarks: events with the current resource version and no object.',
);
const INITIAL_EVENTS = flag(
  'sendInitialEvents',
  'Start a watch with an event for each object, and a bookmark after the last one.',
);
const DRY_RUN = text('dryRun', 'All: process the request without storing the result.');
const FIELD_MANAGER = text(
  'fieldManager',
  'The name under which the ownership of changed fields is recorded.',
);
const FORCE = flag('force', 'Take over fields that other managers own. Only for apply patches.');
const FIELD_VALIDATION = text(
  'fieldValidation',
  'How unknown and duplicate fields are handled: Ignore drops them, Warn also sends warnings, Strict refuses the request.',
);
const GRACE_PERIOD = integer('gracePeriodSeconds', 'The time for a graceful deletion. Zero deletes at once.');
const ORPHAN = flag('orphanDependents', 'Deprecated: use propagationPolicy.');
const PROPAGATION = text(
  'propagationPolicy',
  'How dependents are handled: Orphan, Background or Foreground.',
);

/** Query parameters by action. Every path has `pretty`. */
export const QUERY = {
  list: [
    BOOKMARKS,
    CONTINUE,
    FIELD_SELECTOR,
    LABEL_SELECTOR,
    LIMIT,
    RESOURCE_VERSION,
    RESOURCE_VERSION_MATCH,
    ...(isInForce('streamingLists') ? [INITIAL_EVENTS] : []),
    TIMEOUT,
    WATCH,
  ],
  write: [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION],
  patch: [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, FORCE],
  delete: [DRY_RUN, GRACE_PERIOD, ORPHAN, PROPAGATION],
  deletecollection: [
    CONTINUE,
    DRY_RUN,
    FIELD_SELECTOR,
    GRACE_PERIOD,
    LABEL_SELECTOR,
    LIMIT,
    ORPHAN,
    PROPAGATION,
    RESOURCE_VERSION,
    RESOURCE_VERSION_MATCH,
    TIMEOUT,
  ],
  none: [],
} as const satisfies Readonly<Record<string, readonly Parameter[]>>;

const CONTAINER = text('container', 'The container, if the pod has more than one.');
const STREAMS = [
  CONTAINER,
  flag('stderr', 'Stream the standard error of the process.'),
  flag('stdin', 'Stream the standard input of the process.'),
  flag('stdout', 'Stream the standard output of the process.'),
  flag('tty', 'Allocate a terminal for the process.'),
];
const PROXIED = [text('path', 'The path of the proxied request.')];

/** Query parameters of connect subresources and of logs. */
export const SUBRESOURCE_QUERY = ownKeyMap<readonly Parameter[]>({
  attach: STREAMS,
  exec: [...STREAMS, text('command', 'The command; repeated for each argument.')],
  log: [
    CONTAINER,
    flag('follow', 'Follow the log.'),
    flag('insecureSkipTLSVerifyBackend', 'Do not verify the certificate of the node agent.'),
    integer('limitBytes', 'The maximum size of the response.'),
    flag('previous', 'The log of the previous container.'),
    integer('sinceSeconds', 'The maximum age of a line.'),
    integer('tailLines', 'The number of lines from the end of the log.'),
    flag('timestamps', 'Prefix each line with its time.'),
  ],
  portforward: [integer('ports', 'The ports to forward.')],
  proxy: PROXIED,
});

export const PRETTY = text('pretty', 'Indent the response.');

const PATH_DESCRIPTIONS = ownKeyMap<string>({
  name: 'The name of the object.',
  namespace: 'The namespace of the object.',
  path: 'The path of the proxied request.',
});

/** Returns the parameters in braces of the path. */
export function pathParameters(path: string): readonly Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/gu)].map(([, name = '']) =>
    text(name, PATH_DESCRIPTIONS.get(name) ?? name),
  );
}

function text(name: string, description: string): Parameter {
  return { name, type: 'string', description };
}
function integer(name: string, description: string): Parameter {
  return { name, type: 'integer', description };
}
function flag(name: string, description: string): Parameter {
  return { name, type: 'boolean', description };
}
