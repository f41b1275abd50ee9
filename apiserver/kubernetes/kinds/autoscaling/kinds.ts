import { kindsOf } from '../kind';
import { horizontalPodAutoscalers } from './horizontal-pod-autoscalers';

export const autoscaling = kindsOf('autoscaling', { horizontalpodautoscalers: horizontalPodAutoscalers });
