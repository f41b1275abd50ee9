import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { serverUrl } from '../../deploy/local/api-server';
import { ensureCredentials, writeKubeconfig } from '../../deploy/local/credentials';
import { startEtcdCluster } from '../../deploy/local/etcd-cluster';
import { freePort } from '../../deploy/local/ports';
import { waitUntilReady } from '../../deploy/local/readiness';
import type { StartedProcess } from '../../deploy/local/started-process';
import { startProcess } from '../../deploy/local/started-process';
import { PATIENCE_MS } from '../../shared/testing/eventually';
import { makeWorkspace, remember } from '../support/workspace';
import { describeOperator } from './operator-suite';
import { prepareTarget } from './served-target';

/** A folder with kube-apiserver, kube-controller-manager and etcd. */
const ASSETS = process.env['ORCH_KUBERNETES_ASSETS'];
const GRACE_MS = 5_000;

const describeIfFound = ASSETS === undefined ? describe.skip : describe;
describeIfFound('Kubernetes in the folder ORCH_KUBERNETES_ASSETS', () => {
  const path_ = process.env['PATH'];
  afterAll(() => {
    process.env['PATH'] = path_;
  });
  describeOperator('with kube-apiserver', async () => {
    const assets = ASSETS ?? '';
    process.env['PATH'] = `${assets}${path.delimiter}${path_ ?? ''}`;
    const workspace = makeWorkspace('kubernetes');
    const { dir } = workspace;
    const etcd = await startEtcdCluster({ size: 1, dataDir: path.join(dir, 'etcd') });
    const credentials = ensureCredentials(dir, 'system:kube-controller-manager');
    const { adminToken: token } = credentials;
    const tokenKey = path.join(dir, 'token.key');
    writeFileSync(tokenKey, newTokenKey());
    const started: StartedProcess[] = [];
    const stop = async (): Promise<void> => {
      for (const program of started.toReversed()) await program.stop(GRACE_MS);
      await etcd.stop();
      workspace.remove();
    };
    const start = async (name: string, args: readonly string[]): Promise<StartedProcess> => {
      const program = remember(await startProcess({ name, command: path.join(assets, name), args }));
      started.push(program);
      return program;
    };
    const port = await freePort();
    const certDir = path.join(dir, 'certs');
    const server = serverUrl(port);
    try {
      const apiServer = await start('kube-apiserver', [
        `--etcd-servers=${etcd.endpoints.join(',')}`,
        `--secure-port=${String(port)}`,
        '--bind-address=127.0.0.1',
        '--advertise-address=127.0.0.1',
        `--cert-dir=${certDir}`,
        `--token-auth-file=${credentials.tokenFile}`,
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-key-file=${tokenKey}`,
        `--service-account-signing-key-file=${tokenKey}`,
        '--authorization-mode=RBAC',
        '--service-cluster-ip-range=10.96.0.0/16',
      ]);
      // The certificate that it makes, with its authority.
      const caFile = path.join(certDir, 'apiserver.crt');
      await waitUntilReady(apiServer, { server, caFile, token, deadlineMs: PATIENCE_MS });
      const kubeconfig = path.join(dir, 'controller-manager.kubeconfig');
      writeKubeconfig(kubeconfig, { server, caFile, user: 'kcm', token: credentials.controllerManagerToken });
      await start('kube-controller-manager', [
        `--kubeconfig=${kubeconfig}`,
        `--service-account-private-key-file=${tokenKey}`,
        '--use-service-account-credentials=false',
        '--bind-address=127.0.0.1',
        `--secure-port=${String(await freePort())}`,
        '--leader-elect=false',
      ]);
      return await prepareTarget({ server, ca: readFileSync(caFile), token }, stop);
    } catch (error) {
      await stop();
      throw error;
    }
  });
});

/** It reads no keys of Ed25519. */
function newTokenKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}
