import { ownKeyMap } from '../../../shared/own-key-map';

/** One parameter of the path or the query. */
export interface Parameter {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

const CONTINUE = text('continue', 'Where the next page begins, as the last one said.');
const FIELD_SELECTOR = text(
  'fieldSelector',
  'Restricts the list of returned objects to those with these values of fields.',
);
const LABEL_SELECTOR = text(
  'labelSelector',
  'Restricts the list of returned objects to those with these labels.',
);
const LIMIT = integer('limit', 'The largest number of objects in one page.');
const RESOURCE_VERSION = text('resourceVersion', 'How fresh the answer must be, or where a watch begins.');
const RESOURCE_VERSION_MATCH = text(
  'resourceVersionMatch',
  'How resourceVersion is meant: Exact or NotOlderThan.',
);
const TIMEOUT = integer('timeoutSeconds', 'When the request ends at the latest.');
const WATCH = flag('watch', 'Watch for changes to the described resources, instead of listing them.');
const BOOKMARKS = flag('allowWatchBookmarks', 'Also tell how far a watch has come when nothing changes.');
const DRY_RUN = text('dryRun', 'All: do everything but store the result.');
const FIELD_MANAGER = text('fieldManager', 'Who makes the change, for the ownership of fields.');
const FORCE = flag('force', 'Take over fields that others own. Only for apply patches.');
const FIELD_VALIDATION = text(
  'fieldValidation',
  'What is done about fields that are unknown or stand twice: Ignore (the default) drops them, Warn names them in warnings, Strict refuses the request.',
);
const GRACE_PERIOD = integer(
  'gracePeriodSeconds',
  'How long the object has to end. Zero removes it at once.',
);
const ORPHAN = flag('orphanDependents', 'Deprecated: use propagationPolicy.');
const PROPAGATION = text(
  'propagationPolicy',
  'What happens to dependents: Orphan, Background or Foreground.',
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

const CONTAINER = text('container', 'The container, where the pod has more than one.');
const STREAMS = [
  CONTAINER,
  flag('stderr', 'The error output of the process.'),
  flag('stdin', 'The input of the process.'),
  flag('stdout', 'The output of the process.'),
  flag('tty', 'A terminal for the process.'),
];
const PROXIED = [text('path', 'The path to ask for.')];

/** Query parameters of connect subresources and of logs. */
export const SUBRESOURCE_QUERY = ownKeyMap<readonly Parameter[]>({
  attach: STREAMS,
  exec: [...STREAMS, text('command', 'The command and its arguments, each by itself.')],
  log: [
    CONTAINER,
    flag('follow', 'Go on with what is logged from now on.'),
    flag('insecureSkipTLSVerifyBackend', 'Do not verify the certificate of the node agent.'),
    integer('limitBytes', 'How much to answer with, in bytes.'),
    flag('previous', 'The log of the container that ran before.'),
    integer('sinceSeconds', 'How old a line may be.'),
    integer('tailLines', 'How many lines from the end.'),
    flag('timestamps', 'A time in front of each line.'),
  ],
  portforward: [integer('ports', 'The ports to connect to.')],
  proxy: PROXIED,
});

export const PRETTY = text('pretty', 'Indent the answer.');

const PATH_DESCRIPTIONS = ownKeyMap<string>({
  name: 'The name of the object.',
  namespace: 'The namespace of the object.',
  path: 'The rest of the path.',
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
