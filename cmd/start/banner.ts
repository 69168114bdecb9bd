/** What is told about a running server. */
export interface BannerOptions {
  readonly url: string
  readonly kubeconfig: string
  /** Where objects are kept, for people. */
  readonly store: string
  /** Milliseconds from the start of the process. */
  readonly startedIn: number
}

/** The few lines after a start: what is served and what to type next. */
export const banner = ({ url, kubeconfig, store, startedIn }: BannerOptions): string =>
  [
    `Oriel serves ${url} (ready in ${Math.round(startedIn)} ms, objects in ${store}).`,
    '',
    'Next, in another terminal:',
    `  export KUBECONFIG=${kubeconfig}`,
    '  kubectl api-resources',
    '  kubectl get workspaces',
    '',
  ].join('\n')
