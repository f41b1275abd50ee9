import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { completeOptions } from '../../apiserver/compose/options/complete-options';
import { parseServerFlags } from '../../apiserver/compose/options/parse-server-flags';
import { parseYaml } from '../../apiserver/engine/encoding/yaml';
import { importObjects } from '../../deploy/admin/transfer/import-objects';
import { readObjects } from '../../deploy/admin/transfer/object-files';
import { writeKubeconfig } from '../../deploy/local/credentials';
import { freePort } from '../../deploy/local/ports';
import { RESOURCE } from '../../shared/api/resource-names';
import type { Client } from '../../shared/client/client';
import { pause } from '../../shared/concurrency/pause';
import type { Command, CommandOutcome } from '../../shared/flags/command';
import type { FlagRow, FlagValues } from '../../shared/flags/flag-row';
import { parseFlags } from '../../shared/flags/parse-flags';
import { createProcessLog } from '../../shared/log/pino-log';
import { DIALECTS, dialect } from '../../shared/names';
import type { ApiObject } from '../../shared/object/object';
import type { Superuser } from '../in-process-server';
import { parseControllers, serveInProcess } from '../in-process-server';

const FLAGS = [
  {
    name: 'port',
    type: 'int',
    default: 0,
    min: 0,
    max: 65_535,
    group: 'Server',
    help: 'The port on 127.0.0.1; 0 chooses a free one.',
  },
  {
    name: 'dialect',
    type: 'enum',
    values: DIALECTS,
    default: dialect,
    group: 'Server',
    help: 'The dialect of the names in the capture.',
  },
  {
    name: 'controllers',
    type: 'stringList',
    default: [],
    group: 'Server',
    help: 'The controllers that run, as --controllers of orch-controller-manager has them. None by default: a capture without the owners of its objects would lose them to garbage collection.',
  },
  {
    name: 'kubeconfig',
    type: 'string',
    default: '',
    group: 'Server',
    help: 'Where to write a kubeconfig for the server. If empty, a temporary file that goes with the server.',
  },
  {
    name: 'v',
    short: 'v',
    type: 'int',
    default: 0,
    min: 0,
    max: 10,
    group: 'Server',
    help: 'The log verbosity; 4 and above include debug messages.',
  },
] as const satisfies readonly FlagRow[];

type Values = FlagValues<typeof FLAGS>;

const READY_POLL_MS = 10;
const REFUSED_SHOWN_MAX = 20;

/** Serves captured objects until SIGTERM or SIGINT. */
export const SERVE_COMMAND: Command = {
  name: ['serve'],
  group: 'Tools',
  summary:
    'Opens what kubectl get -o yaml or -o json has printed, an export, or a folder of manifests, as a server: orch serve <file or folder> [flags].',
  flags: FLAGS,
  run: async (argv) => {
    const files = argv.filter((word, at) => !word.startsWith('-') && !isValueOf(argv[at - 1]));
    const parsed = parseFlags(
      FLAGS,
      argv.filter((word) => !files.includes(word)),
    );
    if (parsed.outcome === 'help') return { lines: [], code: 0 };
    if (parsed.outcome === 'errors') return parsed;
    const [file] = files;
    if (file === undefined || files.length > 1) return { errors: ['name one file or folder'] };
    if (!existsSync(file)) return { errors: [`${file} does not exist`] };
    return serve(file, parsed.values);
  },
};

/** Whether the word is a flag whose value is the next word. */
function isValueOf(word: string | undefined): boolean {
  return word !== undefined && /^--?[a-z-]+$/u.test(word);
}

async function serve(file: string, values: Values): Promise<CommandOutcome> {
  const controllers = parseControllers([`--controllers=${values.controllers.join(',')}`]);
  if ('errors' in controllers) return controllers;
  const dir = mkdtempSync(path.join(tmpdir(), 'orch-serve-'));
  const certDir = path.join(dir, 'certs');
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(new Error(name)));
  try {
    const parsed = parseServerFlags([
      '--bind-address=127.0.0.1',
      `--secure-port=${String(values.port === 0 ? await freePort() : values.port)}`,
      `--cert-dir=${certDir}`,
      '--storage-backend=memory',
      '--authorization-mode=RBAC',
      '--allow-privileged=true',
      '--enable-object-import=true',
      `--dialect=${values.dialect}`,
      `--v=${String(values.v)}`,
    ]);
    if (parsed.outcome !== 'values') throw new Error('the flags of the server are not valid');
    const completed = completeOptions(parsed.values);
    if (!completed.ok) return completed;
    const { options } = completed;
    const { log, lastError } = createProcessLog(options.logging);
    const work = async (client: Client, superuser: Superuser, signal: AbortSignal): Promise<void> => {
      const kubeconfig = values.kubeconfig || path.join(dir, 'kubeconfig');
      await open(file, { client, superuser, signal, kubeconfig, caFile: path.join(certDir, 'ca.crt') });
    };
    await serveInProcess(
      { options, controllers, log, lastError, userAgent: 'orch-serve', work },
      stop.signal,
    );
    return { lines: [], code: 0 };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Opening {
  readonly client: Client;
  readonly superuser: Superuser;
  readonly kubeconfig: string;
  readonly caFile: string;
  readonly signal: AbortSignal;
}

/** Fills the server once it is ready, and prints how to reach it. */
async function open(file: string, { client, superuser, kubeconfig, caFile, signal }: Opening): Promise<void> {
  while (!(await isReady(client, signal))) await pause(READY_POLL_MS, signal);
  const startedMs = performance.now();
  const existing = await client.list(RESOURCE.namespaces, { signal });
  const known = new Set(existing.items.map(({ metadata }) => metadata.name ?? ''));
  const { stored, refused } = await importObjects(
    client,
    withNamespaces(readObjects(file, parseDocuments), known),
    signal,
  );
  const tookMs = Math.round(performance.now() - startedMs);
  for (const reason of refused.slice(0, REFUSED_SHOWN_MAX)) process.stderr.write(`not served: ${reason}\n`);
  if (refused.length > REFUSED_SHOWN_MAX) {
    process.stderr.write(`not served: ${String(refused.length - REFUSED_SHOWN_MAX)} more\n`);
  }
  writeKubeconfig(kubeconfig, { ...superuser, caFile, user: 'admin' });
  process.stdout.write(
    `serving ${String(stored)} objects at ${superuser.server}, opened in ${String(tookMs)} ms\nexport KUBECONFIG=${kubeconfig}\n`,
  );
}

/** The parser of the API server reads one document; it is faster than others, and reads scalars as Kubernetes does. */
function parseDocuments(text: string): readonly unknown[] {
  return text.split(/^---(?=\s|$)/mu).map((document) => parseYaml(Buffer.from(document)));
}

async function isReady(client: Client, signal: AbortSignal): Promise<boolean> {
  return client.request({ method: 'GET', path: '/readyz', signal }).then(
    ({ code }) => code === 200,
    (error: unknown) => {
      if (signal.aborted) throw error;
      return false;
    },
  );
}

/** Adds the namespaces that objects are in and that neither the capture nor the server has. */
async function* withNamespaces(objects: AsyncIterable<Buffer>, known: Set<string>): AsyncGenerator<Buffer> {
  const used = new Set<string>();
  for await (const bytes of objects) {
    const { kind, metadata } = JSON.parse(bytes.toString()) as Partial<ApiObject>;
    if (kind === 'Namespace') known.add(metadata?.name ?? '');
    else if (metadata?.namespace !== undefined) used.add(metadata.namespace);
    yield bytes;
  }
  for (const name of used) {
    if (known.has(name)) continue;
    const metadata = { name };
    yield Buffer.from(
      JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata, spec: { finalizers: ['kubernetes'] } }),
    );
  }
}
