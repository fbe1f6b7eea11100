// The second source: reads along with the page's own fetch and EventSource, in the page's world.
// A page could forge what this says, so it is compared with the network tap and never enough for a write.
(binding) => {
  const send = globalThis[binding];
  delete globalThis[binding];
  if (!send || window !== window.top) return;
  let streams = 0;
  const next = () => `${performance.timeOrigin}/${++streams}`;
  const report = (id, url, chunk, end) => send(JSON.stringify({ id, url, chunk, end }));

  const read = async (url, body) => {
    const id = next();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        report(id, url, value, false);
      }
    } catch {
      // The page aborted its own request: what came until then is all there is.
    }
    report(id, url, "", true);
  };

  const pageFetch = globalThis.fetch;
  globalThis.fetch = new Proxy(pageFetch, {
    apply: async (target, self, args) => {
      const response = await Reflect.apply(target, self, args);
      const kind = response.headers.get("content-type") ?? "";
      if (response.body && kind.includes("text/event-stream")) read(response.url, response.clone().body);
      return response;
    },
  });

  const PageEventSource = globalThis.EventSource;
  globalThis.EventSource = new Proxy(PageEventSource, {
    construct: (target, args, newTarget) => {
      const source = Reflect.construct(target, args, newTarget);
      const id = next();
      const message = (event) => report(id, source.url, `event: ${event.type}\ndata: ${event.data.replaceAll("\n", "\ndata: ")}\n\n`, false);
      source.addEventListener("message", message);
      source.addEventListener("error", () => {
        if (source.readyState === target.CLOSED) report(id, source.url, "", true);
      });
      return source;
    },
  });
}
