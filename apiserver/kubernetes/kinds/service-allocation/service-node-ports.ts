import type { Service, ServicePort, ServiceSpec } from '../../../../shared/api/types/core-v1';
import { invalid, invalidObject } from '../../../../shared/errors/field-error';
import { internalError } from '../../../../shared/errors/status-error';
import type { Holdings } from './holdings';
import type { Pool, TakeOutcome } from './pool';
import { nodePortOf, withSpec } from './service-spec';

export interface NodePortFilling {
  readonly pools: { readonly nodePorts: Pool };
  readonly holdings: Holdings;
  readonly held: { readonly ports: readonly string[] };
}

/** Whether ports without a node port get one, in a program where balancers may do without. */
export function fillsNodePorts({ type, allocateLoadBalancerNodePorts: fills }: ServiceSpec): boolean {
  return type !== 'LoadBalancer' || fills !== false;
}

/**
 * The Service with a node port for each of its ports. Ports of one number (a protocol each) share the node port that was filled in
 * for the first of them, as new Services of v1.21 do. Without `fills`, ports that ask for none get none; what is asked for is taken,
 * unlike upstream, where two Services may have it then.
 */
export async function withNodePorts(
  service: Service,
  filling: NodePortFilling,
  fills: boolean,
): Promise<Service> {
  const mine = new Set(filling.held.ports);
  const byPort = new Map<number, number>();
  const ports: ServicePort[] = [];
  for (const [index, port] of (service.spec.ports ?? []).entries()) {
    const { port: number } = port;
    const asked = nodePortOf(port) === 0 ? (byPort.get(number) ?? 0) : nodePortOf(port);
    if (asked === 0 && !fills) {
      ports.push(port);
      continue;
    }
    const nodePort = asked === 0 ? await anyPort(filling) : asked;
    if (asked !== 0 && !mine.has(String(asked))) await thisPort(service, { asked, index }, filling);
    mine.add(String(nodePort));
    if (!byPort.has(number)) byPort.set(number, nodePort);
    ports.push(nodePortOf(port) === nodePort ? port : { ...port, nodePort });
  }
  return withSpec(service, { ports });
}

async function anyPort({ pools, holdings }: NodePortFilling): Promise<number> {
  const outcome = await holdings.takeAny(pools.nodePorts);
  if (!outcome.ok) throw internalError(new Error('failed to allocate a nodePort: range is full'));
  return Number(outcome.taken.value);
}

async function thisPort(
  service: Service,
  { asked, index }: { readonly asked: number; readonly index: number },
  { pools, holdings }: NodePortFilling,
): Promise<void> {
  const outcome = await holdings.take(pools.nodePorts, String(asked));
  if (outcome.ok) return;
  const error = invalid(
    `spec.ports[${String(index)}].nodePort`,
    asked,
    portProblem(outcome, pools.nodePorts),
  );
  throw invalidObject({ group: '', kind: 'Service' }, service.metadata.name ?? '', [error]);
}

/** Why a port of nodes cannot be had, in the words of the API. */
export function portProblem(outcome: TakeOutcome & { readonly ok: false }, pool: Pool): string {
  if (outcome.why === 'taken') return 'provided port is already allocated';
  return `provided port is not in the valid range. The range of valid ports is ${pool.range.text}`;
}
