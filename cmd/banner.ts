/** What is told about a running server. */
export interface BannerOptions {
  readonly url: string
  readonly kubeconfig: string
  /** Where objects are kept, for people. */
  readonly store: string
  /** Names of the views beside the plain endpoint. */
  readonly views: readonly string[]
  /** Milliseconds from the start of the process. */
  readonly startedIn: number
}

/** The few lines after a start: what is served and what to type next. */
export const banner = ({ url, kubeconfig, store, views, startedIn }: BannerOptions): string =>
  [
    `Oriel serves ${url} (ready in ${Math.round(startedIn)} ms, objects in ${store}).`,
    ...(views.length === 0 ? [] : [`Views: ${views.join(', ')}.`]),
    '',
    'Next, in another terminal:',
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl api-resources',
    '  kubectl get workspaces',
    '',
  ].join('\n')
