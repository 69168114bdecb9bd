import type { ViewUrls } from '../../framework/publishing/publisher.ts'
import type { PublishedUrls } from '../isolation/messages.ts'
import { endGroup } from './parent.ts'

/** The URLs of the views, which the server that started this process sends. The process ends when the server does not send any more. */
export class ChangingUrls implements ViewUrls {
  /** Resolves with the first URLs. */
  readonly known: Promise<void>
  readonly #handlers = new Set<() => void>()
  #urls: PublishedUrls = { own: '', current: [] }

  constructor(next: () => Promise<PublishedUrls | undefined>) {
    this.known = this.#take(next).then(() => void this.#follow(next))
  }

  get own(): string {
    return this.#urls.own
  }

  current(): readonly string[] {
    return this.#urls.current
  }

  onChange(handler: () => void): () => void {
    this.#handlers.add(handler)
    return () => void this.#handlers.delete(handler)
  }

  async #follow(next: () => Promise<PublishedUrls | undefined>): Promise<void> {
    for (;;) {
      await this.#take(next)
      for (const handler of this.#handlers) handler()
    }
  }

  async #take(next: () => Promise<PublishedUrls | undefined>): Promise<void> {
    const urls = await next()
    if (urls === undefined) endGroup()
    this.#urls = urls
  }
}
