import { loadAtLevel } from '../../../../shared/testing/load-at-level';
import { GROUP } from '../../../../shared/names';
import { FaultyMemoryBackend } from '../../../engine/storage/testing/faulty-memory-backend';
import type * as Apis from '../../../testing/in-process-api';
import type { InProcessApi } from '../../../testing/in-process-api';

const { startInProcessApi } = loadAtLevel('1.36', () =>
  jest.requireActual<typeof Apis>('../../../testing/in-process-api'),
);

const REPLICAS = [0, 1, 2] as const;
const WRITERS_OF_REPLICA = 2;
const ROUNDS = 9;
const PATH = `/apis/${GROUP.admissionregistration}/v1`;
const BINDINGS = `${PATH}/validatingadmissionpolicybindings`;
const MAPS = '/api/v1/namespaces/default/configmaps';

async function create(api: InProcessApi | undefined, path: string, body: object): Promise<void> {
  const reply = await api?.call('POST', path, { body });
  if (reply?.code !== 201) throw new Error(reply?.text);
}

/** Refuses configmaps of a round. */
async function enforce(api: InProcessApi | undefined, round: number): Promise<void> {
  const name = `round-${String(round)}`;
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  const expression = `object.?data.round.orValue('') != '${String(round)}'`;
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] };
  await create(api, `${PATH}/validatingadmissionpolicies`, { metadata: { name }, spec });
  const binding = { policyName: name, validationActions: ['Deny'] };
  await create(api, BINDINGS, { metadata: { name }, spec: binding });
}

let apis: readonly InProcessApi[];
beforeEach(async () => {
  const backend = new FaultyMemoryBackend();
  apis = await Promise.all(REPLICAS.map(async () => startInProcessApi(backend)));
});
afterEach(async () => {
  await Promise.all(apis.map(async (api) => api.close()));
});

test('on three replicas under load, a policy refuses each write that begins once its binding was acknowledged or watched there', async () => {
  const version = (await apis[0]?.call('GET', BINDINGS))?.json.metadata.resourceVersion as string;
  const stop = new AbortController();
  /** By replica: the last round whose binding it has acknowledged or sent to a watch. */
  const known = REPLICAS.map(() => -1);
  let round = -1;
  let refused = 0;
  let refusedEnough: () => void = () => undefined;
  const slipped: string[] = [];
  const write = async (replica: number, writer: number): Promise<void> => {
    for (let at = 0; !stop.signal.aborted; at += 1) {
      const mustRefuse = known[replica] ?? -1;
      // Writes of the next round are admitted, and keep the load up while its policy is written.
      const of = at % 2 === 0 ? Math.max(mustRefuse, 0) : round + 1;
      const name = [replica, writer, at].join('-');
      const body = { metadata: { name }, data: { round: String(of) } };
      const reply = await apis[replica]?.call('POST', MAPS, { body });
      if (reply?.code === 422) {
        refused += 1;
        refusedEnough();
      } else if (reply?.code !== 201) throw new Error(reply?.text);
      else if (of <= mustRefuse) slipped.push(`${name} of round ${String(of)}`);
    }
  };
  const follow = async (replica: number): Promise<void> => {
    const url = `${BINDINGS}?watch=1&resourceVersion=${version}`;
    for await (const { object } of apis[replica]?.watch(url, stop.signal) ?? []) {
      const { name } = object['metadata'] as { readonly name: string };
      known[replica] = Math.max(known[replica] ?? -1, Number(name.split('-')[1]));
    }
  };
  const working = REPLICAS.flatMap((replica) => [
    follow(replica),
    ...Array.from({ length: WRITERS_OF_REPLICA }, async (_, writer) => write(replica, writer)),
  ]);
  for (let next = 0; next < ROUNDS; next += 1) {
    const at = next % REPLICAS.length;
    await enforce(apis[at], next);
    known[at] = Math.max(known[at] ?? -1, next);
    round = next;
    const wanted = refused + REPLICAS.length * WRITERS_OF_REPLICA * 2;
    const enough = new Promise<void>((resolve) => {
      refusedEnough = (): void => {
        if (refused >= wanted) resolve();
      };
    });
    await Promise.race([enough, Promise.all(working)]);
  }
  stop.abort();
  await Promise.all(working);
  expect(slipped).toEqual([]);
  expect(known).toEqual(REPLICAS.map(() => ROUNDS - 1));
});
