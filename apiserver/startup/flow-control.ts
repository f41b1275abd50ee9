import { openRedis } from '../../shared/client/redis';
import type { Log } from '../../shared/log/log';
import type { Exchange, Stage } from '../exchange/exchange';
import type { DroppedRequests } from '../exchange/overload';
import { FlowConfiguration } from '../flow-control/configuration';
import { Deliveries } from '../flow-control/deliveries';
import { FlowControl } from '../flow-control/flow-control';
import { createInFlightStage } from '../flow-control/in-flight-stage';
import { RedisBoard } from '../flow-control/redis-board';
import { SharedLimits } from '../flow-control/shared-limits';
import { createFlowStage } from '../flow-control/stage';
import { LoopPressure } from '../flow-control/strain';
import { createEstimate } from '../flow-control/work';
import type { FlowReport } from '../observability/metrics/add-flow-metrics';
import type { ControlPlane } from './control-plane';
import type { FlowOptions } from './options/flow-options';

/** How soon a change of the configuration counts. */
const LOOK_MS = 250;

export interface FlowParts {
  readonly plane: Pick<ControlPlane, 'registry' | 'cache' | 'divided'>;
  readonly log: Log;
  readonly dropped: DroppedRequests;
  /** Replicas of one cluster have the same. */
  readonly storePrefix: string;
}

/** What limits the requests in flight. */
export interface Flow {
  readonly stage: Stage;
  /** Whether a list is known to be of many bytes. */
  readonly isLong: (exchange: Exchange) => boolean;
  /** Absent where only their number is limited. */
  readonly report?: FlowReport;
}

/** Limits the requests in flight as the options say; follows the configuration in the watch cache until `life` aborts. */
export function startFlowControl(options: FlowOptions, parts: FlowParts, shutdownSignal: AbortSignal): Flow {
  const { plane, log, dropped } = parts;
  const { max, waitMsMax } = options;
  const random = (): number => Math.random();
  const estimate = createEstimate(plane);
  const isLong = (exchange: Exchange): boolean => estimate(exchange).seats > 1;
  if (!options.isFair) return { stage: createInFlightStage({ max, dropped, random }), isLong };
  const now = (): number => performance.now();
  const control = new FlowControl({ seats: max.mutating + max.readOnly, log, now });
  const { cache } = plane;
  const configuration = new FlowConfiguration({ stored: plane.registry().stored, cache, log });
  const timer = setInterval(() => {
    const objects = configuration.changed();
    if (objects !== undefined) control.configure(objects.levels, objects.schemas);
  }, LOOK_MS).unref();
  shutdownSignal.addEventListener('abort', () => clearInterval(timer), { once: true });
  if (options.sharedBy !== undefined) {
    const board = new RedisBoard(openRedis(options.sharedBy), `${parts.storePrefix}:limits:`);
    new SharedLimits({ limits: [control, ...plane.divided], board, log }).run(shutdownSignal);
  }
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
