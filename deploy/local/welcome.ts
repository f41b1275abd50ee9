import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Dialect } from '../../shared/names';

export interface WelcomeFacts {
  readonly server: string;
  readonly dialect: Dialect;
  readonly dataDir: string;
  readonly kubeconfig: string;
  /** The authority of the server's certificate. */
  readonly caFile: string;
  /** The file of tokens; that of the administrator is the first. */
  readonly tokenFile: string;
  /** PATH of the user: without kubectl on it the commands are those of curl. */
  readonly searchPath: string;
}

/** The text for a ready set: its address, and the next commands. */
export function welcome(facts: WelcomeFacts): string {
  const { server, dialect, dataDir, kubeconfig } = facts;
  const hasKubectl = facts.searchPath
    .split(path.delimiter)
    .some((folder) => folder !== '' && existsSync(path.join(folder, 'kubectl')));
  return `ready at ${server}

  dialect     ${dialect}
  data        ${dataDir}
  kubeconfig  ${kubeconfig}

  Next:
${hasKubectl ? kubectlCommands(kubeconfig) : curlCommand(facts)}
${hasKubectl && dialect === 'orch' ? KUBECTL_HINT : ''}  Ctrl-C stops it; the data stays.
`;
}

function kubectlCommands(kubeconfig: string): string {
  return `    export KUBECONFIG=${quoteWord(kubeconfig)}
    kubectl label namespace default greeting=hello
    kubectl get namespace default -o yaml
`;
}

/** The token is read from its file, so that this text, which is often kept in logs, does not have it. */
function curlCommand({ server, caFile, tokenFile, kubeconfig }: WelcomeFacts): string {
  return `    curl --cacert ${quoteWord(caFile)} -H "Authorization: Bearer $(sed 's/,.*//;q' ${quoteWord(tokenFile)})" ${server}/api/v1/namespaces/default

  kubectl is not on PATH. When it is: export KUBECONFIG=${quoteWord(kubeconfig)}
`;
}

/** Quotes a word for a POSIX shell, if it needs quotes. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A warning about commands that fail in this dialect. */
const KUBECTL_HINT = `  These are the project's own names of groups and labels. Commands of kubectl that name a group of Kubernetes
  ("create role", "auth") fail with them; for these start with --dialect=kubernetes and another --data-dir.

`;
