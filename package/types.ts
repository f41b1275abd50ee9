/** The public interface of `orch/testing`. This file imports nothing, so that its declarations stand alone in the package. */

/** A duration: milliseconds, or text such as `90s`, `2h` or `1h30m`. */
export type Duration = number | string;

/** A Kubernetes object as JSON. */
export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** What a control plane serves, runs and begins with. */
export interface ControlPlaneOptions {
  /** Names of groups and labels: those of Kubernetes (the default), or the neutral ones of orch. */
  readonly dialect?: 'kubernetes' | 'orch';
  /** The Kubernetes release whose API is served, such as `1.36`; the default of the dialect if absent. */
  readonly apiLevel?: string;
  /** CustomResourceDefinitions: objects, files of YAML or JSON, or folders with such files. The start waits until they are established. */
  readonly crds?: readonly (string | KubernetesObject)[];
  /** Other objects to create at the start, in the same forms, in this order. */
  readonly objects?: readonly (string | KubernetesObject)[];
  /**
   * The controllers that run: true (the default) all that are on by default, false none, or as `--controllers` of the controller manager:
   * `['*', '-garbagecollector']`.
   */
  readonly controllers?: boolean | readonly string[];
  /**
   * The number of stand-in nodes, 0 by default; with any, a scheduler runs too. They run no containers: pods become Running, Ready, Succeeded or
   * Failed by rules.
   */
  readonly nodes?: number;
  /** The number of API servers over one store, each with its own controller manager; 1 by default. */
  readonly replicas?: number;
  /** Further flags of the API server by name, without dashes: `{ 'authorization-mode': 'AlwaysAllow' }`. */
  readonly flags?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  /** Whether the API servers open a port on 127.0.0.1, for `kubeconfig` and `clientNodeConfig`; true by default. `fetch` needs none. */
  readonly listen?: boolean;
  /** Receives the log; absent: nothing is logged. */
  readonly log?: (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: object) => void;
}

/** The options of a KubeConfig of `@kubernetes/client-node`: `kubeConfig.loadFromOptions(cluster.clientNodeConfig())`. */
export interface ClientNodeConfig {
  readonly clusters: {
    readonly name: string;
    readonly server: string;
    readonly caData: string;
    readonly skipTLSVerify: false;
  }[];
  readonly users: { readonly name: string; readonly token: string }[];
  readonly contexts: {
    readonly name: string;
    readonly cluster: string;
    readonly user: string;
    readonly namespace: string;
  }[];
  readonly currentContext: string;
}

/** The API as one user sees it. */
export interface Access {
  /** As the global `fetch`, for a path of the API. Runs the whole request pipeline in this process, without a connection. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The text of a kubeconfig file. Throws with `listen: false`. */
  readonly kubeconfig: string;
  /** Throws with `listen: false`. */
  clientNodeConfig(): ClientNodeConfig;
}

/** Everything that a control plane stores at one moment. */
export interface ControlPlaneSnapshot {
  readonly revision: number;
}

/** One of several API servers. */
export interface Replica extends Access {
  /** Stops this API server and its controller manager; the others continue. */
  stop(): Promise<void>;
}

/** The time of the control plane. It runs with the time of the machine, and can be moved forward. */
export interface ControlPlaneClock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /**
   * Moves the time forward: events, tokens and leases expire, and what controllers do at a time (schedules, deadlines, times to live, backoff)
   * happens, in order and each at its own time. The election of leaders keeps the time of the machine.
   */
  advance(duration: Duration): Promise<void>;
}

/** Which requests a fault concerns; a field that is absent matches all. */
export interface FaultTarget {
  /** The plural name: `deployments`. */
  readonly resource?: string;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`. */
  readonly verb?: string;
  /** The name of the user that sends them, such as that of the operator and not of the test. */
  readonly user?: string;
  /** How many requests; no limit if absent. */
  readonly times?: number;
}

/** Faults that clients must survive. They concern all requests except those of the control plane's own controllers. */
export interface Faults {
  /**
   * Cuts the open watches in the middle of their stream, each after so many more events (0: at once); also those that begin later, until
   * `times` watches are cut. Without a limit a client may never get further: it resumes before the last change, which may be of many objects.
   */
  cutWatches(how?: {
    readonly after?: number;
    readonly resource?: string;
    readonly user?: string;
    readonly times?: number;
  }): void;
  /** Ends the open watches of a resource with 410, and forgets its history, so that clients must list again. */
  expire(resource: string): void;
  /** Refuses the next `times` updates and patches of a resource with 409 Conflict, of one user or of all; one by default. */
  conflict(resource: string, times?: number, target?: { readonly user?: string }): void;
  /** Delays requests by a duration of real time. */
  delay(duration: Duration, target?: FaultTarget): void;
  /** Answers requests with this code of HTTP. */
  fail(code: number, target?: FaultTarget): void;
  /** Ends all faults. */
  clear(): void;
}

/** A certificate for a server of the test, such as one of webhooks. All are PEM. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
  /** Its authority; in base64 it is the `caBundle` of a webhook. */
  readonly ca: string;
}

/** A control plane in this process. */
export interface ControlPlane extends Access, AsyncDisposable {
  /** Acts as another user, who is in these groups and in `system:authenticated`. */
  as(user: string, groups?: readonly string[]): Access;
  /** Creates or updates objects by server-side apply; definitions of custom resources are established afterwards. */
  apply(...objects: readonly (string | KubernetesObject)[]): Promise<void>;
  /** Takes the whole state; cheap, since the stored values are shared. */
  snapshot(): ControlPlaneSnapshot;
  /**
   * Brings the state of the snapshot back, by new writes: no resourceVersion is lowered or used twice. Open watches end with 410, so that
   * informers list again. Resolves when every API server serves it.
   */
  restore(snapshot: ControlPlaneSnapshot): Promise<void>;
  /** Starts another control plane with the same options and the current state. */
  clone(): Promise<ControlPlane>;
  readonly clock: ControlPlaneClock;
  readonly faults: Faults;
  /** One by one, as many as the option says. The control plane's own methods use the first that runs. */
  readonly replicas: readonly Replica[];
  /** Stops everything; resolves when no timer, socket or listener is left. The same as disposal. */
  stop(): Promise<void>;
}
