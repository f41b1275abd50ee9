// Written by `npm run generate` from shared/api/data/schema. Change it there.
import type { IntOrString } from '../../object/values';
import type { TypedLocalObjectReference } from './core-v1';
import type { Condition, ListMeta, ObjectMeta } from './meta-v1';

export type HTTPIngressPath = {
  readonly path?: string;
  readonly pathType?: string;
  readonly backend: IngressBackend;
};

export type HTTPIngressRuleValue = {
  readonly paths: readonly HTTPIngressPath[] | null;
};

export type IPAddress = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: IPAddressSpec;
};

/** A list of objects of the kind IPAddress. */
export type IPAddressList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly IPAddress[] | null;
};

export type IPAddressSpec = {
  readonly parentRef?: ParentReference;
};

/** How HTTP requests from outside find their Service. */
export type Ingress = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: IngressSpec;
  readonly status?: IngressStatus;
};

export type IngressBackend = {
  readonly serviceName?: string;
  readonly servicePort: IntOrString;
  readonly resource?: TypedLocalObjectReference;
};

/** Which controller serves an Ingress. */
export type IngressClass = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: IngressClassSpec;
};

/** A list of objects of the kind IngressClass. */
export type IngressClassList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly IngressClass[] | null;
};

export type IngressClassParametersReference = {
  readonly kind: string;
  readonly name: string;
  readonly scope: string | null;
  readonly namespace?: string;
  readonly apiGroup?: string;
};

export type IngressClassSpec = {
  readonly controller?: string;
  readonly parameters?: IngressClassParametersReference;
};

/** A list of objects of the kind Ingress. */
export type IngressList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly Ingress[] | null;
};

export type IngressLoadBalancerIngress = {
  readonly ip?: string;
  readonly hostname?: string;
  readonly ports?: readonly IngressPortStatus[];
};

export type IngressLoadBalancerStatus = {
  readonly ingress?: readonly IngressLoadBalancerIngress[];
};

export type IngressPortStatus = {
  readonly port: number;
  readonly protocol: string;
  readonly error?: string;
};

export type IngressRule = {
  readonly host?: string;
  readonly http?: HTTPIngressRuleValue;
};

export type IngressRuleValue = {
  readonly http?: HTTPIngressRuleValue;
};

export type IngressSpec = {
  readonly ingressClassName?: string;
  readonly backend?: IngressBackend;
  readonly tls?: readonly IngressTLS[];
  readonly rules?: readonly IngressRule[];
};

export type IngressStatus = {
  readonly loadBalancer: IngressLoadBalancerStatus;
};

export type IngressTLS = {
  readonly hosts?: readonly string[];
  readonly secretName?: string;
};

export type ParentReference = {
  readonly group?: string;
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
};

export type ServiceCIDR = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: ServiceCIDRSpec;
  readonly status?: ServiceCIDRStatus;
};

/** A list of objects of the kind ServiceCIDR. */
export type ServiceCIDRList = {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ListMeta;
  readonly items: readonly ServiceCIDR[] | null;
};

export type ServiceCIDRSpec = {
  readonly cidrs?: readonly string[];
};

export type ServiceCIDRStatus = {
  readonly conditions?: readonly Condition[];
};
