import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { silentLog } from '../../../../shared/log/log';
import { ANNOTATION, AUDIT_ANNOTATION, GROUP } from '../../../../shared/names';
import type { ApiObject } from '../../../../shared/object/object';
import type { AdmissionPlugin } from '../plugin';
import { attributesOf, outcomeOf, resultOf } from '../testing/plugin-bench';
import { imagePolicyConfiguration, imagePolicyProblem } from './configuration';
import { imagePolicyWebhook } from './image-policy-webhook';

let seen: Record<string, unknown>[];
let status: unknown;
let code: number;
let now: number;
let dir: string;

const server = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  request.on('end', () => {
    const review = JSON.parse(text) as Record<string, unknown>;
    seen.push(review);
    response.writeHead(code).end(JSON.stringify({ ...review, status }));
  });
});

beforeAll(async () => {
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  dir = mkdtempSync(path.join(tmpdir(), 'image-policy-'));
  const { port } = server.address() as AddressInfo;
  const config = {
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${String(port)}` } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: '' } }],
    'current-context': 'x',
  };
  writeFileSync(path.join(dir, 'config'), JSON.stringify(config));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true });
});
beforeEach(() => {
  [seen, status, code, now] = [[], { allowed: true }, 200, 0];
});

const configOf = (more: object = {}) => ({
  imagePolicy: { kubeConfigFile: path.join(dir, 'config'), retryBackoff: -1, ...more },
});
const pluginOf = (more: object = {}): AdmissionPlugin =>
  imagePolicyWebhook(configOf(more), { clock: { now: () => now }, log: silentLog });
const podOf = (image: string, annotations: Record<string, string> = {}): ApiObject => ({
  metadata: { name: 'p', annotations },
  spec: { containers: [{ name: 'c', image }], initContainers: [{ name: 'i', image: 'init' }] },
});

async function ask(plugin: AdmissionPlugin, pod: ApiObject = podOf('i:1')): Promise<string> {
  return resultOf(await outcomeOf(plugin, attributesOf('v1/pods', { object: pod })));
}

test('the webhook gets the images, the namespace, and its own annotations', async () => {
  const own = `word${ANNOTATION.imagePolicyInfix}ticket`;
  expect(await ask(pluginOf(), podOf('i:1', { [own]: '42', other: 'x' }))).toBe('admitted');
  expect(seen).toEqual([
    {
      kind: 'ImageReview',
      apiVersion: `${GROUP.imagepolicy}/v1alpha1`,
      metadata: { creationTimestamp: null },
      spec: {
        containers: [{ image: 'i:1' }, { image: 'init' }],
        annotations: { [own]: '42' },
        namespace: 'ns',
      },
      status: { allowed: false },
    },
  ]);
});

test.each([
  [{ allowed: false, reason: 'too old' }, 'image policy webhook backend denied one or more images: too old'],
  [{ allowed: false }, 'one or more images rejected by webhook backend'],
])('a refusal of the webhook refuses the pod: %j', async (said, why) => {
  status = said;
  expect(await ask(pluginOf())).toBe(`403 pods "p" is forbidden: ${why}`);
});

test('an answer is cached for its TTL, allowed and denied ones separately, per question', async () => {
  const plugin = pluginOf({ allowTTL: 10, denyTTL: 5 });
  await ask(plugin);
  now = 9_999;
  await ask(plugin);
  expect(seen).toHaveLength(1);
  now = 10_000;
  status = { allowed: false };
  expect(await ask(plugin)).toContain('403');
  now = 14_999;
  expect(await ask(plugin)).toContain('403');
  expect(seen).toHaveLength(2);
  status = { allowed: true };
  now = 15_000;
  expect(await ask(plugin)).toBe('admitted');
  await ask(plugin, podOf('i:2'));
  expect(seen).toHaveLength(4);
});

test('audit annotations of the webhook are recorded, also for a cached answer', async () => {
  status = { allowed: true, auditAnnotations: { by: 'scanner' } };
  const plugin = pluginOf();
  for (let times = 0; times < 2; times += 1) {
    const notes: Record<string, string> = {};
    const annotate = (key: string, value: string) => void (notes[key] = value);
    await outcomeOf(plugin, attributesOf('v1/pods', { object: podOf('i:1'), annotate }));
    expect(notes).toEqual({ [`${AUDIT_ANNOTATION.imagePolicyPrefix}by`]: 'scanner' });
  }
});

describe('a webhook that does not answer', () => {
  test('refuses pods', async () => {
    code = 503;
    expect(await ask(pluginOf())).toBe('403 pods "p" is forbidden: the image policy webhook answered 503');
  });

  test('admits them if so configured, with an audit annotation', async () => {
    code = 503;
    const notes: Record<string, string> = {};
    const annotate = (key: string, value: string) => void (notes[key] = value);
    const attributes = attributesOf('v1/pods', { object: podOf('i:1'), annotate });
    expect(resultOf(await outcomeOf(pluginOf({ defaultAllow: true }), attributes))).toBe('admitted');
    expect(notes).toEqual({ [`${AUDIT_ANNOTATION.imagePolicyPrefix}failed-open`]: 'true' });
  });

  test('is retried five times after transient errors', async () => {
    code = 500;
    expect(await ask(pluginOf())).toContain('answered 500');
    expect(seen).toHaveLength(5);
  });
});

describe('the configuration', () => {
  test('has defaults, and -1 disables a time', () => {
    expect(imagePolicyConfiguration({ imagePolicy: { kubeConfigFile: '/k' } })).toEqual({
      kubeConfigFile: '/k',
      allowTtlMs: 300_000,
      denyTtlMs: 30_000,
      retryBackoffMs: 500,
      defaultAllow: false,
    });
    const none = { allowTTL: -1, denyTTL: -1, retryBackoff: -1, defaultAllow: true };
    expect(imagePolicyConfiguration({ imagePolicy: none })).toMatchObject({
      allowTtlMs: 0,
      denyTtlMs: 0,
      retryBackoffMs: 0,
      defaultAllow: true,
    });
  });

  test.each<readonly [unknown, string]>([
    [undefined, 'no config specified'],
    [{ imagePolicy: { allowTTL: 1801 } }, 'allowTTL: valid value is between 1 s and 1800 s, got 1801 s'],
    [{ imagePolicy: { denyTTL: -2 } }, 'denyTTL: valid value is between 1 s and 1800 s, got -2 s'],
    [
      { imagePolicy: { retryBackoff: 300_001 } },
      'retryBackoff: valid value is between 1 ms and 300000 ms, got 300001 ms',
    ],
  ])('%j is reported as invalid', (configuration, problem) => {
    expect(imagePolicyProblem(configuration)).toBe(problem);
  });

  test('with an unreadable kubeconfig is refused', () => {
    expect(imagePolicyProblem({ imagePolicy: { kubeConfigFile: path.join(dir, 'none') } })).toContain('none');
    expect(imagePolicyProblem(configOf())).toBeUndefined();
  });
});
