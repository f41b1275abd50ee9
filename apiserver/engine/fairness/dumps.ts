import type { Exchange } from '../request/exchange';
import type { FlowControl } from './fairness';
import type { Level } from './level';
import type { Queue, QueueSet } from './queue-set';
import { textTable } from './text-table';

const FOLDER = '/debug/api_priority_and_fairness/';
const NONE = '<none>';
/** For levels with more queues, only those in use are shown. */
const QUEUES_SHOWN_MAX = 1_024;

/** Returns a debug page of kube-apiserver's flow control as text; undefined for another path. */
export function flowDump(
  control: FlowControl,
  { path, query }: Pick<Exchange, 'path' | 'query'>,
): string | undefined {
  switch (path) {
    case `${FOLDER}dump_priority_levels`:
      return textTable([LEVEL_COLUMNS, ...[...control.levels].map(levelRow)]);
    case `${FOLDER}dump_queues`:
      return textTable([QUEUE_COLUMNS, ...[...control.levels].flatMap(queueRows)]);
    case `${FOLDER}dump_requests`:
      return requestTable(control, (query.get('includeRequestDetails') ?? '') !== '');
    default:
      return undefined;
  }
}

const LEVEL_COLUMNS = [
  'PriorityLevelName',
  'ActiveQueues',
  'IsIdle',
  'IsQuiescing',
  'WaitingRequests',
  'ExecutingRequests',
];

function levelRow({ name, queues, isQuiescing }: Level): readonly string[] {
  if (queues === undefined) return [name, NONE, NONE, NONE, NONE, NONE];
  const active = [...queues.queues].filter(({ waiting }) => waiting.length > 0).length;
  const { isIdle, waiting, executing } = queues;
  return [name, ...[active, isIdle, isQuiescing, waiting, executing].map(String)];
}

const QUEUE_COLUMNS = ['PriorityLevelName', 'Index', 'PendingRequests', 'ExecutingRequests', 'VirtualStart'];
const VIRTUAL_DIGITS = 4;

function queueRows({ name, queues, queuing }: Level): readonly (readonly string[])[] {
  if (queues === undefined) return [[name, NONE, NONE, NONE, NONE]];
  if (queuing === undefined) return [];
  return shownQueues(queues, queuing.queues).map(({ index, waiting, executing, virtualStart }) => [
    name,
    ...[index, waiting.length, executing].map(String),
    virtualStart.toFixed(VIRTUAL_DIGITS),
  ]);
}

function shownQueues(queues: QueueSet, count: number): readonly ShownQueue[] {
  const inUse = inOrder(queues);
  if (count > QUEUES_SHOWN_MAX) return inUse;
  const byIndex = new Map<number, ShownQueue>(inUse.map((queue) => [queue.index, queue]));
  for (let index = 0; index < count; index += 1) {
    if (!byIndex.has(index)) byIndex.set(index, { index, waiting: [], executing: 0, virtualStart: 0 });
  }
  return [...byIndex.values()].sort((a, b) => a.index - b.index);
}

type ShownQueue = Pick<Queue, 'index' | 'waiting' | 'executing' | 'virtualStart'>;

function inOrder(queues: QueueSet): readonly Queue[] {
  return [...queues.queues].sort((a, b) => a.index - b.index);
}

/** `FlowDistingsher` is kube-apiserver's spelling. */
const REQUEST_COLUMNS = [
  'PriorityLevelName',
  'FlowSchemaName',
  'QueueIndex',
  'RequestIndexInQueue',
  'FlowDistingsher',
  'ArriveTime',
];
const DETAIL_COLUMNS = [
  'UserName',
  'Verb',
  'APIPath',
  'Namespace',
  'Name',
  'APIVersion',
  'Resource',
  'SubResource',
];

function requestTable(control: FlowControl, hasDetails: boolean): string {
  const rows = [...control.levels].flatMap(({ name, queues }) =>
    (queues === undefined ? [] : inOrder(queues)).flatMap(({ index, waiting }) =>
      waiting.map(({ waiter: { schema, distinguisher, arrivedAt, about } }, place) => [
        name,
        schema,
        String(index),
        String(place),
        distinguisher,
        new Date(arrivedAt).toISOString(),
        ...(hasDetails ? detailsOf(about) : []),
      ]),
    ),
  );
  return textTable([[...REQUEST_COLUMNS, ...(hasDetails ? DETAIL_COLUMNS : [])], ...rows]);
}

function detailsOf({ user, info }: Pick<Exchange, 'user' | 'info'>): readonly string[] {
  const { verb, path, namespace, name, apiGroup, apiVersion, resource, subresource } = info;
  const version = apiGroup === '' ? apiVersion : `${apiGroup}/${apiVersion}`;
  return [user.name, verb, path, namespace, name, version, resource, subresource];
}
