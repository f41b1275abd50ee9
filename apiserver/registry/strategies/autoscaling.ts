import type { Strategy } from '../strategy';
import { autoscalerRules } from '../validation/horizontal-pod-autoscalers';

/** autoscaling. */
export const autoscaling: Readonly<Record<string, Strategy>> = {
  horizontalpodautoscalers: autoscalerRules,
};
