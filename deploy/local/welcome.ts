import type { Dialect } from '../../shared/names';

/** The text for a ready set: its address, and the next commands. */
export function welcome({
  server,
  dialect,
  dataDir,
  kubeconfig,
}: {
  readonly server: string;
  readonly dialect: Dialect;
  readonly dataDir: string;
  readonly kubeconfig: string;
}): string {
  return `ready at ${server}

  dialect     ${dialect}
  data        ${dataDir}
  kubeconfig  ${kubeconfig}

  Next:
    export KUBECONFIG=${kubeconfig}
    kubectl label namespace default greeting=hello
    kubectl get namespace default -o yaml

${dialect === 'orch' ? KUBECTL_HINT : ''}  Ctrl-C stops it; the data stays.
`;
}

/** A warning about commands that fail in this dialect. */
const KUBECTL_HINT = `  By itself kubectl knows only the names of Kubernetes: here "get" shows names and ages alone, and
  what names a group of Kubernetes ("create role", "auth") fails. For these start with --dialect=kubernetes and another --data-dir.

`;
