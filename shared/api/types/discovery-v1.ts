// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { ObjectReference } from './core-v1';
import type { ListMeta, ObjectMeta } from './meta-v1';

export type Endpoint = {
  readonly addresses: readonly string[] | null;
  readonly conditions: EndpointConditions;
  readonly hostname?: string;
  readonly targetRef?: ObjectReference;
  readonly deprecatedTopology?: Readonly<Record<string, string>>;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly hints?: EndpointHints;
};

export type EndpointConditions = {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
};

export type EndpointHints = {
  readonly forZones?: readonly ForZone[];
  readonly forNodes?: readonly ForNode[];
};

export type EndpointPort = {
  readonly name?: string;
  readonly protocol?: string;
  readonly port?: number;
  readonly appProtocol?: string;
};

/** Some of the addresses behind a Service. */
export type EndpointSlice = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly addressType: string;
  readonly endpoints: readonly Endpoint[] | null;
  readonly ports: readonly EndpointPort[] | null;
};

/** A list of objects of the kind EndpointSlice. */
export type EndpointSliceList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly EndpointSlice[] | null;
};

export type ForNode = {
  readonly name: string;
};

export type ForZone = {
  readonly name: string;
};
