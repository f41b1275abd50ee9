import { endpointOf } from '../../kubernetes/admission/testing/plugin-bench';
import type { ApiObject } from '../../../shared/object/object';
import type { InProcessApi } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { API_SERVER_USER } from './api-server-user';
import type { WriteAttempt } from './write-attempt';
import { ask, intentOf, newWriteAttempt } from './write-attempt';
import type { Endpoint } from './resource';
import { runWriteSteps } from './write-pipeline';

const { signal } = new AbortController();
const STANDING: ApiObject = { metadata: { name: 'e', namespace: 'default', uid: 'u', resourceVersion: '7' } };

let api: InProcessApi;
/** Everybody who was asked, in order. */
let seen: string[];

beforeEach(async () => {
  api = await startInProcessApi();
  seen = [];
});
afterEach(async () => {
  await api.close();
});

/** Notes that it was asked, and leaves the object as it is. */
function noting<T>(what: string, given: T): T {
  seen.push(what);
  return given;
}

/** Endpoints whose hooks tell when they are asked. */
function endpoint(): Endpoint {
  const found = endpointOf('v1/endpoints');
  const strategy = {
    reliesOn: () => noting('definition', { key: 'definitions/d', revision: 5 }),
    prepareForCreate: (object: ApiObject) => noting('prepare', object),
    prepareForUpdate: (object: ApiObject) => noting('prepare', object),
    validate: () => noting('validate', []),
    reserves: 'service addresses',
  } as const;
  return { ...found, stored: { ...found.stored, strategy } };
}

function draftOf(
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
  change = (): ApiObject => STANDING,
): WriteAttempt {
  const context = {
    ...api.plane.store,
    admission: {
      mutate: async ({ object }: { readonly object: ApiObject | undefined }) =>
        Promise.resolve(noting('mutate', object)),
      validate: async () => Promise.resolve(noting('validate', undefined)),
    },
    refuseEscalation: () => noting('escalation', undefined),
    requireCreate: async () => Promise.resolve(noting('may create', undefined)),
    reservers: new Map([
      [
        'service addresses',
        async () => {
          const nothing = async (): Promise<void> => Promise.resolve();
          const held = { object: { metadata: { name: 'reserved' } }, commit: nothing, release: nothing };
          return Promise.resolve(noting('reserve', held));
        },
      ],
    ] as const),
  };
  const request = {
    endpoint: endpoint(),
    namespace: 'default',
    name: 'e',
    nameInPath: 'e',
    subresource: '',
    user: API_SERVER_USER,
    dryRun: false,
  };
  const wanted = (): ApiObject => noting('change', change());
  return newWriteAttempt(
    ask(context, request, { change: wanted, uid: 'u' }),
    operation,
    operation === 'CREATE' ? undefined : STANDING,
  );
}

test('a creation runs validating admission after validation, and reserves last', async () => {
  const draft = draftOf('CREATE', () => ({ metadata: { name: 'e' } }));
  await runWriteSteps('create', draft, signal);
  expect(seen).toEqual([
    'change',
    'definition',
    'mutate',
    'escalation',
    'prepare',
    'validate',
    'may create',
    'validate',
    'reserve',
  ]);
  expect(intentOf(draft)).toMatchObject({
    kind: 'put',
    object: { metadata: { name: 'reserved' } },
    guards: [{ key: '/registry/definitions/d', revision: 5 }],
    reservation: {},
  });
});

test('an update runs the same steps without the check of the right to create', async () => {
  const draft = draftOf('UPDATE');
  await runWriteSteps('update', draft, signal);
  expect(seen).toEqual([
    'change',
    'definition',
    'mutate',
    'escalation',
    'prepare',
    'validate',
    'validate',
    'reserve',
  ]);
});

test('a wrong resourceVersion fails after mutation and escalation checks, before validation', async () => {
  const draft = draftOf('UPDATE', () => ({ metadata: { ...STANDING.metadata, resourceVersion: '6' } }));
  await expect(runWriteSteps('update', draft, signal)).rejects.toMatchObject({
    status: { reason: 'Conflict' },
  });
  expect(seen).toEqual(['change', 'definition', 'mutate', 'escalation']);
});

test('a deletion runs validating admission and releases reservations', async () => {
  const draft = draftOf('DELETE');
  await runWriteSteps('delete', draft, signal);
  expect(seen).toEqual(['mutate', 'validate', 'reserve']);
  expect(intentOf(draft).kind).toBe('delete');
});

test('an operation runs admission and is not stored, a question runs no admission', async () => {
  await runWriteSteps('operation', draftOf('CREATE'), signal);
  expect(seen).toEqual(['change', 'mutate', 'validate']);
  seen = [];
  await runWriteSteps('question', draftOf('CREATE'), signal);
  expect(seen).toEqual(['change']);
});

test('the event loop gets a turn after a long step', async () => {
  const draft = draftOf('CREATE', () => {
    const until = performance.now() + 50;
    while (performance.now() < until);
    setImmediate(() => noting('another turn', undefined));
    return { metadata: { name: 'e' } };
  });
  await runWriteSteps('create', draft, signal);
  expect(seen.slice(0, 3)).toEqual(['change', 'another turn', 'definition']);
});
