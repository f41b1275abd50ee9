import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../deploy/local/repository';
import type { Dialect } from '../../shared/names';

/**
 * A client of another project, with the script that uses it in its own language. The script gets KUBECONFIG, ORCH_DIALECT and the variables of
 * `env`, runs in an empty folder, and exits with 0 if everything works. It prints `version <version>`, and `checked <what>` for each thing.
 */
export interface Client {
  /** The name in test titles and in the table of the README. */
  readonly title: string;
  readonly script: string;
  readonly dialects: readonly Dialect[];
  /** The program that runs the script, with its first arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The files without which the client is skipped. `node deploy/local/clients.mjs` brings them. */
  readonly needs: readonly string[];
}

const TOOLS = path.join(repositoryRoot, '.tools');
const NPM = path.join(TOOLS, 'clients-npm');
const DEBIAN = path.join(TOOLS, 'clients-debian');
const OLD_KUBECTL = path.join(TOOLS, 'kubectl-1.20', 'usr', 'bin', 'kubectl');
const KUBECTL = path.join(TOOLS, 'kubectl-1.36', 'kubectl', 'kubectl');
const OLD_HELM = path.join(TOOLS, 'helm-3.10', 'package', 'bin', 'helm');
const HELM = path.join(TOOLS, 'kubectl-1.36', 'helm', 'helm');
const PYTHON = '/usr/bin/python3';
const PYTHON_PACKAGES = path.join(DEBIAN, 'usr', 'lib', 'python3', 'dist-packages');
const COLLECTION = path.join(PYTHON_PACKAGES, 'ansible_collections', 'kubernetes', 'core');
const PLAYBOOK = path.join(DEBIAN, 'usr', 'bin', 'ansible-playbook');
/** Unpacked only where the system has none. */
const RUBY =
  [path.join(DEBIAN, 'usr', 'bin', 'ruby'), '/usr/bin/ruby'].find((file) => existsSync(file)) ?? 'ruby';
const KUBECLIENT = path.join(DEBIAN, 'usr', 'share', 'doc', 'ruby-kubeclient');

const BOTH = ['kubernetes', 'orch'] as const;
/** Clients of groups whose names differ in the two dialects. */
const KUBERNETES = ['kubernetes'] as const;

/** All clients, in the order of the table. */
export const CLIENTS: readonly Client[] = [
  ...(
    [
      ['kubectl 1.20', OLD_KUBECTL],
      ['kubectl 1.36', KUBECTL],
    ] as const
  ).map(([title, program]) => ({
    title,
    script: 'kubectl.sh',
    dialects: BOTH,
    command: ['bash'],
    env: { KUBECTL: program },
    needs: [program],
  })),
  ...(
    [
      ['Helm 3', OLD_HELM],
      ['Helm 4', HELM],
    ] as const
  ).map(([title, program]) => ({
    title,
    script: 'helm.sh',
    dialects: BOTH,
    command: ['bash'],
    env: { HELM: program, KUBECTL: OLD_KUBECTL },
    needs: [program, OLD_KUBECTL],
  })),
  {
    title: '@kubernetes/client-node',
    script: 'client-node.mjs',
    dialects: BOTH,
    command: [process.execPath],
    env: {},
    needs: [],
  },
  {
    title: 'kubernetes-fluent-client',
    script: 'kubernetes-fluent-client.mjs',
    dialects: BOTH,
    command: [process.execPath],
    env: { CLIENT_HOME: NPM },
    needs: [path.join(NPM, 'node_modules', 'kubernetes-fluent-client')],
  },
  {
    title: 'Pepr',
    script: 'pepr.mjs',
    dialects: KUBERNETES,
    command: [process.execPath],
    env: { CLIENT_HOME: NPM },
    needs: [path.join(NPM, 'node_modules', 'pepr')],
  },
  {
    title: 'Python client',
    script: 'python-client.py',
    dialects: BOTH,
    command: [PYTHON],
    env: { PYTHONPATH: PYTHON_PACKAGES },
    needs: [PYTHON, path.join(PYTHON_PACKAGES, 'kubernetes')],
  },
  {
    title: 'Ansible, kubernetes.core',
    script: 'ansible.yaml',
    dialects: BOTH,
    command: [
      PYTHON,
      PLAYBOOK,
      '-i',
      'localhost,',
      '-c',
      'local',
      '-e',
      `ansible_python_interpreter=${PYTHON}`,
    ],
    env: { PYTHONPATH: PYTHON_PACKAGES, CLIENT_HOME: COLLECTION },
    needs: [PYTHON, PLAYBOOK, COLLECTION],
  },
  {
    title: 'Ruby, kubeclient',
    script: 'ruby-client.rb',
    dialects: BOTH,
    command: [RUBY],
    env: rubyEnvironment(),
    needs: [RUBY, KUBECLIENT],
  },
];

/** A Ruby that is unpacked and not installed finds its shared library, its own modules and Debian's gems by these variables. */
function rubyEnvironment(): Readonly<Record<string, string>> {
  const architectures = foldersIn(path.join(DEBIAN, 'usr', 'lib')).filter((folder) =>
    folder.endsWith('-linux-gnu'),
  );
  const modules = [path.join(DEBIAN, 'usr', 'lib'), ...architectures].flatMap((folder) => [
    path.join(folder, 'ruby', 'vendor_ruby'),
    ...foldersIn(path.join(folder, 'ruby')),
    ...foldersIn(path.join(folder, 'ruby', 'vendor_ruby')),
  ]);
  const gems = [path.join(DEBIAN, 'usr', 'share'), ...architectures].flatMap((folder) =>
    foldersIn(path.join(folder, 'rubygems-integration')),
  );
  return {
    LD_LIBRARY_PATH: architectures.join(path.delimiter),
    RUBYLIB: modules.join(path.delimiter),
    GEM_PATH: gems.join(path.delimiter),
  };
}

function foldersIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : [];
}
