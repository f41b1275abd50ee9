import type { FlowSchema, PriorityLevelConfiguration } from '../../../shared/api/types/flowcontrol-v1';
import { silentLog } from '../../../shared/log/log';
import { NO_USER } from '../request/initial-values';
import { parseRequestInfo } from '../request/request-info';
import { flowDump } from './dumps';
import { MANDATORY_FLOW_OBJECTS } from '../../kubernetes/kinds/flowcontrol/mandatory-flow';
import { FlowControl, RULES_COST_MAX } from './fairness';
import { dealHand } from './hand';
import { limitedTo } from './level';

const EVERYTHING = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

function level(name: string, shares = 10): PriorityLevelConfiguration {
  const queuing = { queues: 16, handSize: 4, queueLengthLimit: 5 };
  return {
    metadata: { name, uid: `uid-of-${name}` },
    spec: {
      type: 'Limited',
      limited: limitedTo(shares, { type: 'Queue', queuing }),
    },
  };
}

function schema(name: string, matchingPrecedence: number, spec: Partial<FlowSchema['spec']>): FlowSchema {
  return {
    metadata: { name, uid: `uid-of-${name}` },
    spec: { matchingPrecedence, priorityLevelConfiguration: { name: 'tenants' }, ...spec },
  };
}

const ofUser = (name: string): NonNullable<FlowSchema['spec']['rules']> => [
  { subjects: [{ kind: 'User', user: { name } }], ...EVERYTHING },
];

function newControl(
  levels: readonly PriorityLevelConfiguration[] = [],
  schemas: readonly FlowSchema[] = [],
): FlowControl {
  const control = new FlowControl({
    mandatory: MANDATORY_FLOW_OBJECTS,
    seats: 600,
    log: silentLog,
    now: () => 0,
  });
  control.configure(levels, schemas);
  return control;
}

function asked(url: string, user: { name?: string; groups?: readonly string[] } = {}, method = 'GET') {
  const { pathname, searchParams } = new URL(url, 'https://localhost');
  return { user: { ...NO_USER, ...user }, info: parseRequestInfo(method, pathname, searchParams) };
}

const PODS = '/api/v1/namespaces/a/pods';

test('without any objects there are the mandatory ones, and superusers are exempt', () => {
  const control = newControl();
  const { name, level: found } = control.classify(asked(PODS, { groups: ['system:masters'] }));
  expect([name, found.name, found.queues]).toEqual(['exempt', 'exempt', undefined]);
  expect(control.classify(asked(PODS, { groups: ['system:authenticated'] })).name).toBe('catch-all');
  expect(control.classify(asked(PODS)).name).toBe('catch-all');
});

test('schemas are asked by precedence, then by name', () => {
  const rules = ofUser('ann');
  const schemas = [
    schema('b', 500, { rules }),
    schema('a', 500, { rules }),
    schema('z', 20, { rules: ofUser('bob') }),
  ];
  const control = newControl([level('tenants')], schemas);
  expect(control.classify(asked(PODS, { name: 'ann' })).name).toBe('a');
  expect(control.classify(asked(PODS, { name: 'bob' })).name).toBe('z');
});

const ACCOUNT = 'system:serviceaccount:tools:robot';
const account = (name: string, namespace = 'tools') => ({
  subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace, name } }],
  ...EVERYTHING,
});
const anyone = { subjects: [{ kind: 'Group', group: { name: '*' } }] };
const resourceRule = {
  verbs: ['list'],
  apiGroups: ['apps'],
  resources: ['deployments/scale'],
  namespaces: ['a'],
};
const SCALE = '/apis/apps/v1/namespaces/a/deployments/d/scale';

test.each<
  readonly [string, NonNullable<FlowSchema['spec']['rules']>[number], ReturnType<typeof asked>, boolean]
>([
  ['an account by name', account('robot'), asked(PODS, { name: ACCOUNT }), true],
  ['all accounts of a namespace', account('*'), asked(PODS, { name: ACCOUNT }), true],
  ['one of them with colons in its name', account('*'), asked(PODS, { name: `${ACCOUNT}:b` }), true],
  ['no accounts of another', account('*', 'tool'), asked(PODS, { name: ACCOUNT }), false],
  ['no user with a similar name', account('*'), asked(PODS, { name: 'tools:robot' }), false],
  [
    'a group',
    { subjects: [{ kind: 'Group', group: { name: 'g' } }], ...EVERYTHING },
    asked(PODS, { groups: ['h', 'g'] }),
    true,
  ],
  ['another verb', { ...anyone, resourceRules: [resourceRule] }, asked(SCALE), false],
  ['a subresource', { ...anyone, resourceRules: [{ ...resourceRule, verbs: ['get'] }] }, asked(SCALE), true],
  [
    'another namespace',
    { ...anyone, resourceRules: [{ ...resourceRule, verbs: ['get'], namespaces: ['b'] }] },
    asked(SCALE),
    false,
  ],
  [
    'the cluster, where namespaces are meant',
    { ...anyone, resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }] },
    asked('/api/v1/nodes'),
    false,
  ],
  [
    'a path',
    { ...anyone, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/livez'] }] },
    asked('/livez'),
    true,
  ],
  [
    'what is below it',
    { ...anyone, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/livez/*'] }] },
    asked('/livez/ping'),
    true,
  ],
  [
    'a path that begins alike',
    { ...anyone, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/livez'] }] },
    asked('/livezzz'),
    false,
  ],
])('a rule is about %s', (_what, rule, request, expected) => {
  const control = newControl([level('tenants')], [schema('s', 100, { rules: [rule] })]);
  expect(control.classify(request).name === 's').toBe(expected);
});

test('many rules are asked once for each kind of request, with the same outcome', () => {
  const rules = Array.from({ length: 100 }, (_rule, at) => ({
    ...anyone,
    resourceRules: [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: [`ns-${String(at)}`] },
    ],
  }));
  const control = newControl([level('tenants')], [schema('s', 100, { rules })]);
  for (let round = 0; round < 2; round += 1) {
    expect(control.classify(asked('/api/v1/namespaces/ns-99/pods/p')).name).toBe('s');
    expect(control.classify(asked('/api/v1/namespaces/ns-100/pods/p')).name).toBe('catch-all');
  }
});

test('a schema with more rules than a request has time for is ignored', () => {
  const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['a'] };
  const huge = [{ ...anyone, resourceRules: Array.from({ length: RULES_COST_MAX }, () => rule) }];
  const schemas = [schema('huge', 100, { rules: huge }), schema('small', 200, { rules: ofUser('ann') })];
  const control = newControl([level('tenants')], schemas);
  expect(control.classify(asked(PODS, { name: 'ann' })).name).toBe('small');
});

test('a schema whose level is missing is passed over until the level is there', () => {
  const schemas = [schema('s', 100, { rules: ofUser('ann') })];
  const control = newControl([], schemas);
  expect(control.classify(asked(PODS, { name: 'ann' })).name).toBe('catch-all');
  control.configure([level('tenants')], schemas);
  const { name, mark } = control.classify(asked(PODS, { name: 'ann' }));
  expect([name, mark]).toEqual(['s', { schemaUid: 'uid-of-s', levelUid: 'uid-of-tenants' }]);
});

test('the schema of last resort has a level, also when what is stored names one that is not there', () => {
  const control = newControl([], [schema('catch-all', 10_000, { rules: ofUser('ann') })]);
  const { name, level: found } = control.classify(asked(PODS, { name: 'bob' }));
  expect([name, found.name]).toEqual(['catch-all', 'catch-all']);
});

function seatsOf(control: FlowControl): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries([...control.levels].map(({ name, queues }) => [name, queues?.limits.seats]));
}

test('levels divide the seats by their shares, and one that is gone keeps its own until its requests have ended', () => {
  const schemas = [schema('s', 100, { rules: ofUser('ann') })];
  const control = newControl([level('tenants', 10), level('others', 15)], schemas);
  expect(seatsOf(control)).toEqual({ tenants: 200, others: 300, 'catch-all': 100, exempt: undefined });
  const flow = control.classify(asked(PODS, { name: 'ann' }));
  const queue = flow.level.queues?.tryStart(flow.handOf(asked(PODS, { name: 'ann' })), 1, 0);
  if (queue === undefined) throw new Error('there is no seat');
  control.configure([level('others', 15)], schemas);
  expect(flow.level.isQuiescing).toBe(true);
  expect(seatsOf(control)).toMatchObject({ tenants: 200, others: 300 });
  expect(control.classify(asked(PODS, { name: 'ann' })).name).toBe('catch-all');
  flow.level.queues?.finish(queue, { seats: 1, tookMs: 0, now: 0 });
  control.retire(flow.level);
  expect(seatsOf(control)).toEqual({ others: 450, 'catch-all': 150, exempt: undefined });
});

test('a flow has the same hand each time: distinct queues, and different ones for another user', () => {
  const schemas = [
    schema('s', 100, { rules: [{ ...anyone, ...EVERYTHING }], distinguisherMethod: { type: 'ByUser' } }),
  ];
  const control = newControl([level('tenants')], schemas);
  const handOf = (name: string) => control.classify(asked(PODS, { name })).handOf(asked(PODS, { name }));
  const hands = ['ann', 'bob', 'cid', 'dan', 'eve'].map(handOf);
  for (const hand of hands) {
    expect(new Set(hand).size).toBe(4);
    expect(hand.every((queue) => queue >= 0 && queue < 16)).toBe(true);
  }
  expect(new Set(hands.map(String)).size).toBe(5);
  expect(handOf('ann')).toBe(hands[0]);
});

test('a hand may be all queues', () => {
  const hand = dealHand({ schema: 's', distinguisher: 'd' }, { queues: 5, handSize: 5 });
  expect([...hand].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
});

test('the debug pages show levels, queues and who waits, as kube-apiserver lays them out', () => {
  const control = newControl([level('tenants')], [schema('s', 100, { rules: ofUser('ann') })]);
  const request = asked(PODS, { name: 'ann' });
  const { level: found } = control.classify(request);
  const { queues } = found;
  if (queues === undefined) throw new Error('the level is exempt');
  queues.configure({ seats: 1, queuing: found.queuing });
  const waiter = { schema: 's', distinguisher: 'ann', arrivedAt: 0, about: request };
  queues.tryStart([3], 1, 0);
  const signal = new AbortController();
  const waits = { hand: [3], seats: 1, waiter, waitMsMax: 1_000_000 };
  void queues.start(waits, signal.signal, () => undefined).catch(() => undefined);
  const dump = (path: string, query = ''): readonly string[] =>
    (
      flowDump(control, {
        path: `/debug/api_priority_and_fairness/${path}`,
        query: new URLSearchParams(query),
      }) ?? ''
    ).split('\n');
  expect(dump('dump_priority_levels')).toEqual([
    'PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests',
    'tenants,           1,            false,  false,       1,               1',
    'exempt,            <none>,       <none>, <none>,      <none>,          <none>',
    'catch-all,         0,            true,   false,       0,               0',
    '',
  ]);
  expect(dump('dump_queues')).toContain(
    'tenants,           3,      1,               1,                 0.0030',
  );
  expect(dump('dump_queues')).toHaveLength(19);
  expect(dump('dump_requests')).toEqual([
    'PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, ArriveTime',
    'tenants,           s,              3,          0,                   ann,             1970-01-01T00:00:00.000Z',
    '',
  ]);
  expect(dump('dump_requests', 'includeRequestDetails=1')[1]).toMatch(
    /Z, +ann, +list, +\/api\/v1\/namespaces\/a\/pods, +a, +, +v1, +pods, +$/u,
  );
  expect(flowDump(control, { path: '/debug/other', query: new URLSearchParams() })).toBeUndefined();
  signal.abort(new Error('the test is over'));
});
