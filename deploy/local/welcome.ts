import type { Dialect } from '../../shared/names';

/** What a person sees when the set is ready: where it is, and the next three commands to type. */
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

  Ctrl-C stops it; the data stays.
`;
}
