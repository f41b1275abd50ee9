import type { GROUP as Groups } from '../../../shared/names';
import type { InProcessApi } from '../../testing/in-process-api';
import type * as Api from '../../testing/in-process-api';
import type * as Names from '../../../shared/names';
import { silentLog } from '../../../shared/log/log';
import { StatusError } from '../../../shared/errors/status-error';
import { loadInDialect } from '../../../shared/testing/load-at-level';
import { eventually, patience } from '../../../shared/testing/eventually';
import type { AccessCondition } from '../request/access-condition';
import { OpenWatches } from './open-watches';

const DIALECTS = ['orch', 'kubernetes'] as const;
const SECRETS = '/api/v1/namespaces/default/secrets';

type Frame = Awaited<ReturnType<ReturnType<InProcessApi['watch']>['next']>>;

describe.each(DIALECTS)('in the dialect %s', (dialect) => {
  let group: (typeof Groups)['rbac'];
  let startInProcessApi: typeof Api.startInProcessApi;
  let api: InProcessApi;
  let rbac = '';
  let stop: AbortController;

  beforeAll(() => {
    const modules = loadInDialect(dialect, () => ({
      ...jest.requireActual<typeof Names>('../../../shared/names'),
      ...jest.requireActual<typeof Api>('../../testing/in-process-api'),
    }));
    group = modules.GROUP.rbac;
    rbac = `/apis/${group}/v1`;
    ({ startInProcessApi } = modules);
  });
  beforeEach(async () => {
    api = await startInProcessApi(undefined, { authorizationModes: ['RBAC'] });
    stop = new AbortController();
    await write('POST', `${rbac}/clusterroles`, { metadata: { name: 'reader' }, rules: [reads('secrets')] });
  });
  afterEach(async () => {
    stop.abort();
    await api.close();
  });

  const reads = (resource: string): object => ({
    verbs: ['get', 'list', 'watch'],
    apiGroups: [''],
    resources: [resource],
  });

  async function write(method: string, path: string, body?: object): Promise<void> {
    const { code, text } = await api.call(method, path, body === undefined ? {} : { body });
    if (code >= 300) throw new Error(text);
  }

  async function bind(user: string, place = `${rbac}/namespaces/default/rolebindings`): Promise<void> {
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'reader' };
    const subjects = [{ kind: 'User', apiGroup: group, name: user }];
    await write('POST', place, { metadata: { name: user }, roleRef, subjects });
  }

  async function unbind(user: string): Promise<void> {
    await write('DELETE', `${rbac}/namespaces/default/rolebindings/${user}`);
  }

  /** A watch that has begun: the next frame is the first one that comes after what is there. */
  async function watch(user: string, path = SECRETS): Promise<() => Promise<Frame>> {
    const { json } = await api.call('GET', path, { headers: { 'impersonate-user': user } });
    const url = `${path}?watch=1&resourceVersion=${String(json.metadata.resourceVersion)}`;
    const frames = api.watch(url, stop.signal, { 'impersonate-user': user });
    return async () => frames.next();
  }

  async function make(name: string): Promise<void> {
    await write('POST', SECRETS, { metadata: { name } });
  }

  test('a watch ends with the refusal that a new one gets, and those of others go on', async () => {
    await bind('ann');
    await bind('ben');
    const [anns, bens] = [await watch('ann'), await watch('ben')];
    const [last, next] = [anns(), bens()];
    await unbind('ann');
    const refused = await api.call('GET', `${SECRETS}?watch=1`, { headers: { 'impersonate-user': 'ann' } });
    expect(refused.code).toBe(403);
    expect((await last).value).toEqual({ type: 'ERROR', object: refused.json });
    expect((await anns()).done).toBe(true);
    await make('later');
    expect((await next).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'later' } } });
    expect(api.plane.cache.stats().watchesEnded.forbidden).toBe(1);
  });

  test.each([
    ['a role that has no such rule any more', 'PUT', { rules: [] }],
    ['a role that is gone', 'DELETE', undefined],
  ])('so does one that stood on %s', async (_what, method, change) => {
    await bind('ann');
    const anns = await watch('ann');
    const last = anns();
    const body = change === undefined ? undefined : { metadata: { name: 'reader' }, ...change };
    await write(method, `${rbac}/clusterroles/reader`, body);
    expect((await last).value).toMatchObject({ type: 'ERROR', object: { code: 403, reason: 'Forbidden' } });
  });

  test('a watch goes on where another binding lets it, and ends with the last one', async () => {
    await bind('ann');
    await bind('ann', `${rbac}/clusterrolebindings`);
    const anns = await watch('ann');
    const first = anns();
    await unbind('ann');
    await api.plane.openWatches.check('changed', patience());
    await make('one');
    expect((await first).value).toMatchObject({ object: { metadata: { name: 'one' } } });
    const last = anns();
    await write('DELETE', `${rbac}/clusterrolebindings/ann`);
    expect((await last).value).toMatchObject({ type: 'ERROR', object: { code: 403 } });
  });

  test('a right for one namespace is none for all', async () => {
    await bind('ann', `${rbac}/clusterrolebindings`);
    await bind('ann');
    const [everywhere, here] = [await watch('ann', '/api/v1/secrets'), await watch('ann')];
    const [last, next] = [everywhere(), here()];
    await write('DELETE', `${rbac}/clusterrolebindings/ann`);
    expect((await last).value).toMatchObject({ type: 'ERROR', object: { code: 403 } });
    await make('later');
    expect((await next).value).toMatchObject({ type: 'ADDED' });
  });

  test('what is watched by many is asked once, and nothing is kept of watches that are over', async () => {
    await bind('ann');
    await bind('ben');
    const opened = await Promise.all([watch('ann'), watch('ann'), watch('ann'), watch('ben')]);
    const steps = opened.map(async (next) => next());
    // Impersonation of the two, and what each of them watches.
    await eventually('all have begun', () => api.plane.cache.stats().watchesStarted === 4);
    expect(api.plane.openWatches.size).toBe(4);
    stop.abort();
    await Promise.allSettled(steps);
    expect(api.plane.openWatches.size).toBe(0);
  });
});

describe('what open watches stand on', () => {
  const refusal = new StatusError('Forbidden', 'no');

  class Answering implements AccessCondition {
    readonly key: string;
    readonly of: AccessCondition['of'];
    asked = 0;
    answer: () => Promise<StatusError | undefined> = async () => Promise.resolve(undefined);

    constructor(key: string, of: AccessCondition['of']) {
      this.key = key;
      this.of = of;
    }

    async refusal(): Promise<StatusError | undefined> {
      this.asked += 1;
      return this.answer();
    }
  }

  let generation = 1;
  let watches: OpenWatches;
  const [right, identity] = [new Answering('right', 'access'), new Answering('identity', 'identity')];
  const look = async (scope: 'all' | 'changed' = 'changed'): Promise<string> => {
    const before = [right.asked, identity.asked];
    await watches.check(scope, patience());
    return [right.asked, identity.asked].map((asked, at) => asked - (before[at] ?? 0)).join(' ');
  };

  beforeEach(() => {
    right.asked = identity.asked = 0;
    watches = new OpenWatches({ generation: async () => Promise.resolve(generation), log: silentLog });
    right.answer = identity.answer = async () => Promise.resolve(undefined);
  });

  test('is looked at once more when a watch begins, then when roles change, and all of it from time to time', async () => {
    const end = jest.fn();
    watches.hold([right, identity], end);
    expect(await look()).toBe('1 1');
    expect(await look()).toBe('0 0');
    generation += 1;
    expect(await look()).toBe('1 0');
    expect(await look()).toBe('0 0');
    expect(await look('all')).toBe('1 1');
    watches.hold([right], end);
    expect(await look()).toBe('1 0');
    expect(end).not.toHaveBeenCalled();
  });

  test('ends the watches that stand on it, when it is lost, and no others', async () => {
    const [ann, ben] = [jest.fn(), jest.fn()];
    const [overAnn, overBen] = [watches.hold([right, identity], ann), watches.hold([identity], ben)];
    right.answer = async () => Promise.resolve(refusal);
    await look();
    expect(ann.mock.calls).toEqual([[refusal]]);
    expect(ben).not.toHaveBeenCalled();
    overAnn();
    overBen();
    expect(watches.size).toBe(0);
    expect(await look('all')).toBe('0 0');
  });

  test('stays while the decision is unknown', async () => {
    const end = jest.fn();
    watches.hold([right, identity], end);
    right.answer = async () => Promise.reject(new Error('the webhook does not answer'));
    expect(await look('all')).toBe('1 1');
    expect(end).not.toHaveBeenCalled();
    right.answer = async () => Promise.resolve(refusal);
    await look('all');
    expect(end).toHaveBeenCalledTimes(1);
  });

  test('is looked at the next time if there was no time for it', async () => {
    watches.hold([right], jest.fn());
    const over = AbortSignal.abort(new Error('no time'));
    await watches.check('changed', over);
    expect(right.asked).toBe(0);
    expect(await look()).toBe('1 0');
  });

  test('is looked at again as soon as roles are known again', async () => {
    const end = jest.fn();
    let isKnown = false;
    watches = new OpenWatches({
      generation: async () => (isKnown ? Promise.resolve(7) : Promise.reject(new Error('being refilled'))),
      log: silentLog,
    });
    watches.hold([right], end);
    expect(await look()).toBe('1 0');
    expect(await look()).toBe('0 0');
    isKnown = true;
    expect(await look()).toBe('1 0');
  });
});
