import { ANNOTATION } from '../../../../shared/names';
import { horizontalPodAutoscalerTable } from './columns';
import { horizontalPodAutoscalers } from './horizontal-pod-autoscalers-strategy';
import { kindsOf } from '../kind';

export const autoscaling = kindsOf('autoscaling', {
  horizontalpodautoscalers: {
    strategy: horizontalPodAutoscalers,
    table: horizontalPodAutoscalerTable,
    fieldAnnotations: [
      ANNOTATION.autoscalerMetrics,
      ANNOTATION.autoscalerBehavior,
      ANNOTATION.autoscalerCurrentMetrics,
      ANNOTATION.autoscalerConditions,
    ],
  },
});
