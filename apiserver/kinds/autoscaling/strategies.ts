import type { Strategy } from '../../registry/strategy';
import { autoscalerRules } from './horizontal-pod-autoscalers-rules';

/** autoscaling. */
export const autoscaling: Readonly<Record<string, Strategy>> = {
  horizontalpodautoscalers: autoscalerRules,
};
