import { eventually } from '../../shared/testing/eventually';
import type { ApiClient } from '../support/client';
import type { Replica } from '../support/replica';
import { cpuMicroseconds, memoryAtRest } from './process-cost';
import { withServers } from './servers';
import type { Table } from './table';
import { megabytes, milliseconds } from './table';

const DEFINITIONS = '/apis/apiextensions.orch/v1/customresourcedefinitions';
const COUNT = 500;
/** Each operator defines several kinds. */
const GROUPS = 50;
const SECTIONS = 24;
const FIELDS = 16;
/** The memory budget of an unused definition, in MB. */
const BAR_MB = 0.2;

/** Measures the memory and time of custom resource definitions without objects. */
export async function measureDefinitions(): Promise<Table> {
  return withServers({ name: 'bench-definitions', dialect: 'orch' }, async ({ replica }) => {
    await replica.restart();
    const none = await stateOf(replica);
    const bytes = await define(replica.client);
    await replica.restart();
    const all = await stateOf(replica);
    const used = await memoryAfterUse(replica);
    const each = (memory: number): string => `${((memory - none.memory) / COUNT).toFixed(2)} MB`;
    return {
      title: `${String(COUNT)} definitions of ${String(Math.round(bytes / 1_024))} KB`,
      header: ['', 'none', 'all', 'each'],
      rows: [
        ['memory at rest after a start', megabytes(none.memory), megabytes(all.memory), each(all.memory)],
        ['the same after a create of each and the whole OpenAPI', '', megabytes(used), each(used)],
        ...(['started', 'discovered', 'discoveredAgain'] as const).map((what) => [
          TITLES[what],
          milliseconds(none[what]),
          milliseconds(all[what]),
          milliseconds((all[what] - none[what]) / COUNT),
        ]),
      ],
      notes: [`The bar is ${String(BAR_MB)} MB for each.`],
    };
  });
}

/** CPU time of the server in milliseconds, excluding other processes. */
interface State {
  readonly started: number;
  readonly discovered: number;
  readonly discoveredAgain: number;
  /** In MB. */
  readonly memory: number;
}

const TITLES = {
  started: 'CPU from start to ready',
  discovered: 'CPU of the first discovery of all groups',
  discoveredAgain: 'CPU of the next one',
} as const;

/** For a freshly started server. */
async function stateOf(replica: Replica): Promise<State> {
  const { pid } = replica.process();
  const started = cpuMicroseconds(pid) / MICROSECONDS;
  const memory = await memoryAtRest(pid);
  const cpuOf = async (work: () => Promise<void>): Promise<number> => {
    const before = cpuMicroseconds(pid);
    await work();
    return (cpuMicroseconds(pid) - before) / MICROSECONDS;
  };
  const discovered = await cpuOf(async () => discover(replica.client));
  return { started, memory, discovered, discoveredAgain: await cpuOf(async () => discover(replica.client)) };
}

const MICROSECONDS = 1_000;

/** Like kubectl without a cache. */
async function discover(client: ApiClient): Promise<void> {
  const { body } = await client.get('/apis');
  const { groups } = body as unknown as {
    readonly groups: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
  };
  const versions = groups.flatMap((each) => each.versions);
  await Promise.all(versions.map(async ({ groupVersion }) => client.get(`/apis/${groupVersion}`)));
}

/** Returns the bytes of one document. */
async function define(client: ApiClient): Promise<number> {
  let bytes = 0;
  for (let at = 0; at < COUNT; at++) {
    const definition = definitionOf(at);
    bytes = JSON.stringify(definition).length;
    const { status, text } = await client.create(DEFINITIONS, definition);
    if (status !== 201) throw new Error(text);
  }
  await eventually('all are served', async () => (await client.get(collectionOf(COUNT - 1))).status === 200);
  return bytes;
}

async function memoryAfterUse(replica: Replica): Promise<number> {
  const { client } = replica;
  for (let at = 0; at < COUNT; at++) {
    const spec = { section0: { field0: 'a text' } };
    const { status, text } = await client.create(`${collectionOf(at)}?dryRun=All`, {
      apiVersion: `${groupOf(at)}/v1`,
      kind: `Kind${String(at)}`,
      metadata: { name: 'one' },
      spec,
    });
    if (status !== 201) throw new Error(text);
  }
  await client.get('/openapi/v2');
  return memoryAtRest(replica.process().pid);
}

function groupOf(at: number): string {
  return `operator${String(at % GROUPS)}.example.com`;
}

function collectionOf(at: number): string {
  return `/apis/${groupOf(at)}/v1/namespaces/default/kind${String(at)}s`;
}

function definitionOf(at: number): object {
  const [kind, plural] = [`Kind${String(at)}`, `kind${String(at)}s`];
  const sections = Array.from({ length: SECTIONS }, (_each, index) => [
    `section${String(index)}`,
    sectionOf(index),
  ]);
  const openAPIV3Schema = {
    type: 'object',
    description: `What an operator makes of ${kind}.`,
    properties: {
      spec: { type: 'object', properties: Object.fromEntries(sections) as object },
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
  return {
    apiVersion: 'apiextensions.orch/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${groupOf(at)}` },
    spec: {
      group: groupOf(at),
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema },
        },
      ],
    },
  };
}

function sectionOf(index: number): object {
  const fields = Array.from({ length: FIELDS }, (_each, at) => [
    `field${String(at)}`,
    {
      type: at % 4 === 3 ? 'integer' : 'string',
      description: `Says of part ${String(at)} in section ${String(index)} what is to become of it, as operators do in a sentence or two.`,
    },
  ]);
  return { type: 'object', properties: Object.fromEntries(fields) as object };
}
