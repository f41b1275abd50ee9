import { GROUP } from '../../../shared/names';
import type { InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { STORES, removeStores } from '../../testing/stores';

/**
 * All combinations of the options that say from which state a list, a watch or a deletion reads, the odd ones included. What is expected
 * is stated a second time here, as short rules in the order in which they count.
 */

const CMS = '/api/v1/namespaces/default/configmaps';
const FUTURE = '999999';
const UINT64_MAX = 2n ** 64n - 1n;
const MATCHES = [undefined, '', 'Exact', 'NotOlderThan', 'exact'] as const;
const LIMITS = [undefined, '0', '1', '-1', 'x', ''] as const;

interface Options {
  readonly resourceVersion: string | undefined;
  readonly resourceVersionMatch?: string | undefined;
  readonly limit?: string | undefined;
  readonly continue?: string | undefined;
  readonly sendInitialEvents?: string | undefined;
}

afterAll(removeStores);

describe.each(STORES)('over %s', (_name, open) => {
  let api: InProcessApi;
  let versions: readonly (string | undefined)[];
  /** By what a list says that goes on with them. */
  let tokens: ReadonlyMap<string | undefined, number>;
  beforeAll(async () => {
    api = await startInProcessApi(await open());
    for (const name of ['a', 'b', 'c']) {
      expect((await api.call('POST', CMS, { body: { metadata: { name } } })).code).toBe(201);
    }
    // Versions of the future are waited for; here in vain, so not for long.
    Object.assign(api.plane.store, { cacheWaitMs: 1 });
    const { json } = await api.call('GET', `${CMS}?limit=1`);
    const { resourceVersion: now, continue: valid } = json.metadata as Record<string, string>;
    versions = [
      undefined,
      '',
      '0',
      '00',
      now,
      `00000000000000000000${now}`,
      FUTURE,
      '9007199254740993',
      String(UINT64_MAX),
      String(UINT64_MAX + 1n),
      '-1',
      '+1',
      '1.5',
      'text',
    ];
    const forged = (token: object): string =>
      Buffer.from(
        JSON.stringify({ v: `${GROUP.meta}/v1`, rv: Number(now), start: 'a\0', ...token }),
      ).toString('base64url');
    tokens = new Map([
      [undefined, 200],
      ['', 200],
      [valid, 200],
      [forged({ rv: -1 }), 200],
      [forged({ rv: Number(FUTURE) }), 504],
      [forged({ rv: 0 }), 400],
      [forged({ v: 'other/v1' }), 400],
      [forged({ start: '../../secrets/default/a\0' }), 400],
      ['no token', 400],
    ]);
  });
  afterAll(async () => {
    await api.close();
  });

  const call = async (method: string, options: object): Promise<Reply> => {
    const query = Object.entries(options).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
    );
    return api.call(method, `${CMS}?${query.join('&')}`);
  };

  /** 400 for what is no version, 504 for one of the future. */
  const codeOfVersion = (text: string): number => {
    if (text === '') return 200;
    if (!/^[0-9]+$/.test(text) || BigInt(text) > UINT64_MAX) return 400;
    return BigInt(text) >= BigInt(FUTURE) ? 504 : 200;
  };

  const codeOfList = (options: Options): number => {
    const { resourceVersion: version = '', resourceVersionMatch: match = '', continue: token = '' } = options;
    if (['x', ''].includes(options.limit ?? '0')) return 400;
    const isMisused =
      match !== '' &&
      (version === '' ||
        token !== '' ||
        !/^(?:Exact|NotOlderThan)$/.test(match) ||
        isExactZero(match, version));
    if (isMisused) return 422;
    if (token === '') return codeOfVersion(version);
    const codeOfToken = tokens.get(token) ?? 0;
    return codeOfToken !== 400 && !['', '0'].includes(version) ? 400 : codeOfToken;
  };

  const isExactZero = (match: string, version: string): boolean => match === 'Exact' && version === '0';

  test.each(['GET', 'DELETE'])(
    '%s of a collection: every combination of version, match, limit and token has the specified result',
    async (method) => {
      const dryRun = method === 'DELETE' ? 'All' : undefined;
      const wrong: unknown[] = [];
      for (const resourceVersion of versions) {
        for (const resourceVersionMatch of MATCHES) {
          const all = LIMITS.flatMap((limit) =>
            [...tokens.keys()].map((token): Options => ({
              resourceVersion,
              resourceVersionMatch,
              limit,
              continue: token,
            })),
          );
          const replies = await Promise.all(all.map(async (options) => call(method, { ...options, dryRun })));
          for (const [at, options] of all.entries()) {
            const { code, json } = replies[at] ?? { code: 0, json: undefined };
            const asked = codeOfList(options);
            // A version in the query is also the one that each object must have.
            const isPrecondition = method === 'DELETE' && (options.resourceVersion ?? '') !== '';
            const expected = asked === 200 && isPrecondition ? 409 : asked;
            if (code !== expected) wrong.push({ options, expected, code, message: json.message });
          }
        }
      }
      expect(wrong).toEqual([]);
    },
  );

  test('GET of an object: every version has the specified result', async () => {
    for (const version of versions) {
      const query = version === undefined ? '' : `?resourceVersion=${encodeURIComponent(version)}`;
      const { code } = await api.call('GET', `${CMS}/a${query}`);
      expect([version, code]).toEqual([version, codeOfVersion(version ?? '')]);
    }
  });

  test('watch: every combination of version, match, token and initial events has the specified result', async () => {
    const codeOfWatch = (options: Options): number => {
      const { resourceVersion: version = '', resourceVersionMatch: match = '' } = options;
      const isStreaming = options.sendInitialEvents !== undefined;
      const isMisused = isStreaming
        ? match !== 'NotOlderThan' || (options.continue ?? '') !== ''
        : match !== '';
      if (isMisused) return 422;
      const wantsState = isStreaming && !['false', '0'].includes(options.sendInitialEvents ?? '');
      const code = codeOfVersion(version);
      // One that begins behind a version waits for it, and so does its client.
      return code === 504 && !wantsState ? 200 : code;
    };
    const wrong: unknown[] = [];
    for (const resourceVersion of versions) {
      for (const resourceVersionMatch of MATCHES) {
        for (const sendInitialEvents of [undefined, 'true', 'false', '1', '0', '']) {
          for (const token of [undefined, '', 'no token']) {
            const options = { resourceVersion, resourceVersionMatch, sendInitialEvents, continue: token };
            // It has no time at all, and ends as soon as it has begun.
            const { code, text } = await call('GET', { watch: '1', timeoutSeconds: '-1', ...options });
            const expected = codeOfWatch(options);
            if (code !== expected) wrong.push({ options, expected, code, text });
          }
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each(['GET', 'DELETE', 'watch'])(
    'of several errors the first one is reported, in the order of kube-apiserver (%s)',
    async (verb) => {
      const method = verb === 'watch' ? 'GET' : verb;
      const start = verb === 'watch' ? { watch: '1' } : {};
      const request = async (options: object): Promise<unknown> => {
        const { code, json } = await call(method, { ...start, ...options });
        return [code, json.message];
      };
      const misused = { resourceVersionMatch: 'Odd', resourceVersion: '1' };
      const field = { fieldSelector: 'data.k=v' };
      const malformed = { labelSelector: 'a in' };
      const number = { limit: 'x' };
      expect(await request({ ...field, ...misused, ...malformed, ...number })).toEqual([
        400,
        expect.stringContaining('ParseInt'),
      ]);
      expect(await request({ ...field, ...misused, ...malformed })).toEqual([
        400,
        expect.stringContaining('unable to parse requirement'),
      ]);
      expect(await request({ ...field, ...misused })).toEqual([422, expect.stringContaining('ListOptions')]);
      expect(await request(field)).toEqual([
        400,
        expect.stringContaining('"data.k" is not a known field selector: only'),
      ]);
    },
  );

  test.each(['watch=1', 'limit=1'])('an invalid timeout is a bad request (%s)', async (query) => {
    for (const each of ['x', '', '1.5', '9223372036854775808']) {
      expect((await api.call('GET', `${CMS}?${query}&timeoutSeconds=${each}`)).code).toBe(400);
    }
  });
});
