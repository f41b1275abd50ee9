/** What `npm start` runs: one API server on the embedded store and one controller-manager, in the foreground. */
import path from 'node:path';
import { caFileOf, serverUrl, startApiServer } from './api-server';
import { publishClusterInfo } from './cluster-info';
import { startControllerManager } from './controller-manager';
import { assertDialectOf, ensureCredentials, writeKubeconfig } from './credentials';
import { watchDataDirectory } from './data-directory';
import { assertKeysOfStore, ensureDuties } from './duties';
import { prepareNodePrograms } from './nodes';
import { print, printer, runInForeground, stageOf } from './foreground';
import { freePort, isPortFree } from './ports';
import { waitUntilReady } from './readiness';
import type { Dialect } from '../../shared/names';
import { welcome } from './welcome';

const PORT = 6443;
const READY_DEADLINE_MS = 60_000;
const API_SERVER_GRACE_MS = 20_000;
const CONTROLLER_MANAGER_GRACE_MS = 10_000;

/** The options of the command line, which options.mjs reads. */
export interface LocalOptions {
  readonly dataDir: string;
  /** Undefined: the default of the launcher. */
  readonly port: number | undefined;
  /** The IP address of the listener; `0.0.0.0` and `::` are all of this machine. */
  readonly listen: string;
  readonly dialect: Dialect;
  /** The value of the controller-manager's `--controllers`. */
  readonly controllers: string;
  /** The number of stand-in nodes; without one there is no scheduler either. */
  readonly nodes: number;
}

/** Runs until a signal or a failure; resolves to the exit code. */
export async function start({ port = PORT, ...options }: LocalOptions): Promise<number> {
  if (await isPortFree(port, options.listen)) return runLocal({ ...options, port });
  process.stderr.write(
    `orch: port ${String(port)} on ${options.listen} is in use. Stop the program that has it, or choose another: npm start -- --port=${String(port + 1)}\n`,
  );
  return 1;
}

async function runLocal({
  controllers,
  dataDir,
  dialect,
  listen,
  nodes,
  port,
}: LocalOptions & { readonly port: number }): Promise<number> {
  const certDir = path.join(dataDir, 'certs');
  const kubeconfig = path.join(dataDir, 'kubeconfig');
  const controllerKubeconfig = path.join(dataDir, 'controller-manager.kubeconfig');
  const storeDir = path.join(dataDir, 'data');
  assertDialectOf(dataDir);
  assertKeysOfStore(dataDir, storeDir);
  const credentials = ensureCredentials(dataDir);
  const duties = ensureDuties(dataDir, credentials);
  const nodePrograms = nodes === 0 ? undefined : prepareNodePrograms(dataDir, nodes);
  const server = serverUrl(port, listen);
  print('starting the API server and the controller-manager');
  return runInForeground(async (add) => {
    const apiServer = await startApiServer({
      name: 'apiserver',
      listen,
      port,
      dialect,
      storage: { kind: 'embedded', dir: storeDir },
      certDir,
      credentials,
      extraArgs: duties.apiServer,
      onLine: printer('apiserver'),
    });
    add(stageOf(apiServer, API_SERVER_GRACE_MS));
    const caFile = caFileOf(certDir);
    const token = credentials.adminToken;
    await waitUntilReady(apiServer, { server, caFile, token, deadlineMs: READY_DEADLINE_MS });
    writeKubeconfig(kubeconfig, { server, caFile, user: 'admin', token });
    await publishClusterInfo({ kubeconfig, server, caFile });
    writeKubeconfig(controllerKubeconfig, {
      server,
      caFile,
      user: 'controller-manager',
      token: credentials.controllerManagerToken,
    });
    const controllerManager = await startControllerManager({
      name: 'controller-manager',
      kubeconfig: controllerKubeconfig,
      credentials,
      dialect,
      controllers,
      securePort: await freePort(),
      extraArgs: duties.controllerManager,
      onLine: printer('controller-manager'),
    });
    add(stageOf(controllerManager, CONTROLLER_MANAGER_GRACE_MS));
    for (const program of (await nodePrograms?.start({ server, caFile, kubeconfig, dialect })) ?? [])
      add(stageOf(program, CONTROLLER_MANAGER_GRACE_MS));
    add(watchDataDirectory(dataDir, storeDir));
    const { tokenFile } = credentials;
    const searchPath = process.env['PATH'] ?? '';
    print(welcome({ server, dialect, dataDir, kubeconfig, caFile, tokenFile, searchPath }));
  });
}
