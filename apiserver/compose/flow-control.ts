import { openRedis } from '../../shared/client/redis';
import type { Log } from '../../shared/log/log';
import type { Exchange, Stage } from '../engine/request/exchange';
import type { DroppedRequests } from '../engine/request/overload';
import { FlowConfiguration } from '../engine/fairness/configuration';
import { Deliveries } from '../engine/fairness/deliveries';
import { FlowControl } from '../engine/fairness/fairness';
import { createInFlightStage } from '../engine/fairness/in-flight-stage';
import { RedisBoard } from '../engine/fairness/redis-board';
import { SharedLimits } from '../engine/fairness/shared-limits';
import { LENDING_PERIOD_MS } from '../engine/fairness/lending';
import { createFlowStage } from '../engine/fairness/stage';
import { LoopPressure } from '../engine/fairness/loop-pressure';
import { createEstimate } from '../engine/fairness/work';
import { MANDATORY_FLOW_OBJECTS, findFlowResources } from '../kubernetes/kinds/flowcontrol/mandatory-flow';
import type { FlowReport } from './metrics/add-flow-metrics';
import type { ControlPlane } from './control-plane';
import type { FlowOptions } from './options/flow-options';

export interface FlowParts {
  readonly plane: Pick<ControlPlane, 'registry' | 'cache' | 'divided'>;
  readonly log: Log;
  readonly dropped: DroppedRequests;
  /** Equal for all replicas of a cluster. */
  readonly storePrefix: string;
}

/** Limits the requests in flight. */
export interface Flow {
  readonly stage: Stage;
  /** Returns whether a list is known to have a large response. */
  readonly isLong: (exchange: Exchange) => boolean;
  /** Absent if only the number of requests is limited. */
  readonly report?: FlowReport;
}

/** Limits the requests in flight as the options say. A change of the configuration applies as soon as the watch cache has it. */
export function startFlowControl(options: FlowOptions, parts: FlowParts, shutdownSignal: AbortSignal): Flow {
  const { plane, log, dropped } = parts;
  const { max, waitMsMax } = options;
  const random = (): number => Math.random();
  const estimate = createEstimate(plane);
  const isLong = (exchange: Exchange): boolean => estimate(exchange).seats > 1;
  if (!options.isFair) return { stage: createInFlightStage({ max, dropped, random }), isLong };
  const now = (): number => performance.now();
  const resources = findFlowResources(plane.registry().stored);
  const control = new FlowControl({
    seats: max.mutating + max.readOnly,
    mandatory: MANDATORY_FLOW_OBJECTS,
    configuration: new FlowConfiguration({ resources, cache: plane.cache, log }),
    log,
    now,
  });
  if (options.sharedBy !== undefined) {
    const board = new RedisBoard(openRedis(options.sharedBy), `${parts.storePrefix}:limits:`);
    new SharedLimits({ limits: [control, ...plane.divided], board, log }).run(shutdownSignal);
  }
  const lending = setInterval(() => control.lend(), LENDING_PERIOD_MS).unref();
  shutdownSignal.addEventListener('abort', () => clearInterval(lending), { once: true });
  const strain = new LoopPressure(shutdownSignal);
  const deliveries = new Deliveries({ control, strain, waitMsMax, now, shutdownSignal });
  const inQueue = { mutating: 0, readOnly: 0 };
  return {
    stage: createFlowStage({
      control,
      deliveries,
      strain,
      estimate,
      waitMsMax,
      dropped,
      inQueue,
      now,
      random,
    }),
    isLong,
    report: { control, strain, inQueue },
  };
}
