import path from 'node:path';
import { RESOURCE } from '../../shared/api/resource-names';
import { createClient } from '../../shared/client/client';
import { loadKubeconfig } from '../../shared/client/kubeconfig';
import { hasCode } from '../../shared/client/status';
import type { Dialect } from '../../shared/names';
import { GROUP, MEDIA_TYPE, USER } from '../../shared/names';
import { ensureUserToken, writeKubeconfig } from './credentials';
import { printer } from './foreground';
import { freePort, LOOPBACK } from './ports';
import { programPath } from './repository';
import type { StartedProcess } from './started-process';
import { startProcess } from './started-process';

/** The programs by which pods get a node and a status: the scheduler and the stand-in nodes. */
export interface NodePrograms {
  readonly start: (set: RunningSet) => Promise<readonly StartedProcess[]>;
}

interface RunningSet {
  readonly server: string;
  readonly caFile: string;
  /** That of the administrator. */
  readonly kubeconfig: string;
  readonly dialect: Dialect;
}

const NODE_USER = 'orch-node';
const DEADLINE_MS = 60_000;

/** What stand-in nodes may do. */
const NODE_RULES = [
  rule('', 'nodes', ['create', 'get', 'list', 'watch', 'patch']),
  rule('', 'nodes/status', ['patch']),
  rule('', 'pods', ['get', 'list', 'watch', 'delete']),
  rule('', 'pods/status', ['patch']),
  rule('', 'events', ['create', 'patch']),
  rule('', 'services', ['create', 'patch']),
  rule('', 'configmaps', ['get']),
  rule(GROUP.coordination, 'leases', ['create', 'patch']),
  rule(GROUP.apiregistration, 'apiservices', ['create', 'patch']),
  rule(GROUP.authentication, 'tokenreviews', ['create']),
  rule(GROUP.authorization, 'subjectaccessreviews', ['create']),
];

/** Prepares the credentials of both programs, which an API server reads when it starts. `dir` is the data directory. */
export function prepareNodePrograms(dir: string, nodes: number): NodePrograms {
  const tokens = {
    scheduler: ensureUserToken(dir, USER.scheduler),
    node: ensureUserToken(dir, NODE_USER),
  };
  return {
    start: async ({ server, caFile, kubeconfig, dialect }) => {
      await grantNodeRights(kubeconfig);
      const launch = async (name: 'scheduler' | 'node', args: readonly string[]): Promise<StartedProcess> => {
        const own = path.join(dir, `${name}.kubeconfig`);
        writeKubeconfig(own, { server, caFile, user: name, token: tokens[name] });
        return startProcess({
          name,
          command: process.execPath,
          args: [
            programPath(name),
            `--kubeconfig=${own}`,
            `--dialect=${dialect}`,
            `--bind-address=${LOOPBACK}`,
            ...args,
          ],
          onLine: printer(name),
        });
      };
      return [
        await launch('scheduler', ['--leader-elect=false', `--secure-port=${String(await freePort())}`]),
        await launch('node', [`--nodes=${String(nodes)}`, `--port=${String(await freePort())}`]),
      ];
    },
  };
}

function rule(group: string, resource: string, verbs: readonly string[]) {
  return { apiGroups: [group], resources: [resource], verbs };
}

async function grantNodeRights(kubeconfig: string): Promise<void> {
  const client = createClient({ ...loadKubeconfig({ path: kubeconfig }).client, userAgent: 'orch-local' });
  const call = { signal: AbortSignal.timeout(DEADLINE_MS) };
  const metadata = { name: NODE_USER };
  try {
    const role = { metadata, rules: NODE_RULES };
    try {
      await client.create(RESOURCE.clusterroles, role, call);
    } catch (error) {
      if (!hasCode(error, 409)) throw error;
      // An earlier version may have needed other rights.
      await client.patch(
        RESOURCE.clusterroles,
        metadata,
        { contentType: MEDIA_TYPE.mergePatch, body: role },
        call,
      );
    }
    const binding = {
      metadata,
      roleRef: { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: NODE_USER },
      subjects: [{ kind: 'User', apiGroup: GROUP.rbac, name: NODE_USER }],
    };
    await client.create(RESOURCE.clusterrolebindings, binding, call).catch((error: unknown) => {
      if (!hasCode(error, 409)) throw error;
    });
  } finally {
    client.close();
  }
}
