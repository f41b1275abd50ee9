/** What `npm start` runs: one API server on the embedded store and one controller-manager, in the foreground. */
import path from 'node:path';
import { caFileOf, serverUrl, startApiServer } from './api-server';
import { publishClusterInfo } from './cluster-info';
import { startControllerManager } from './controller-manager';
import { ensureCredentials, writeKubeconfig } from './credentials';
import { assertKeysOfStore, ensureDuties } from './duties';
import { print, printer, runInForeground, stageOf } from './foreground';
import type { LocalOptions } from './options';
import { parseLocalOptions } from './options';
import { freePort, isPortFree } from './ports';
import { waitUntilReady } from './readiness';
import { welcome } from './welcome';

const PORT = 6443;
const READY_DEADLINE_MS = 60_000;
const API_SERVER_GRACE_MS = 20_000;
const CONTROLLER_MANAGER_GRACE_MS = 10_000;

async function main(): Promise<number> {
  const parsed = parseLocalOptions(process.argv.slice(2), process.env, {
    command: 'npm start',
    dataDir: '.orch',
    port: String(PORT),
  });
  if (!parsed.ok) {
    process.stderr.write(`${parsed.text}\n`);
    return parsed.exitCode;
  }
  const port = parsed.options.port ?? PORT;
  if (!(await isPortFree(port))) {
    process.stderr.write(
      `orch: port ${String(port)} on 127.0.0.1 is in use. Stop the program that has it, or choose another: npm start -- --port=${String(port + 1)}\n`,
    );
    return 1;
  }
  return runLocal(parsed.options, port);
}

async function runLocal({ dataDir, dialect }: LocalOptions, port: number): Promise<number> {
  const certDir = path.join(dataDir, 'certs');
  const kubeconfig = path.join(dataDir, 'kubeconfig');
  const controllerKubeconfig = path.join(dataDir, 'controller-manager.kubeconfig');
  const storeDir = path.join(dataDir, 'data');
  assertKeysOfStore(dataDir, storeDir);
  const credentials = ensureCredentials(dataDir);
  const duties = ensureDuties(dataDir, credentials);
  const server = serverUrl(port);
  return runInForeground(async (add) => {
    const apiServer = await startApiServer({
      name: 'apiserver',
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
      securePort: await freePort(),
      extraArgs: duties.controllerManager,
      onLine: printer('controller-manager'),
    });
    add(stageOf(controllerManager, CONTROLLER_MANAGER_GRACE_MS));
    print(welcome({ server, dialect, dataDir, kubeconfig }));
  });
}

main().then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    process.stderr.write(`orch: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
