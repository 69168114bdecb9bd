/** The lines of a stream of bytes, without empty ones. A character may be in two chunks. */
export async function* linesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      rest += decoder.decode(value, { stream: true })
      const lines = rest.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line !== '') yield line
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
  if (rest !== '') yield rest
}
