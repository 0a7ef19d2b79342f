// A small web server: routes, and what goes wrong on the way.

const routes = new Map();

/**
 * Register a handler for a path.
 */
export function route(path, handler) {
  routes.set(path, handler);
}

/** Find the handler for a request and run it; an unknown path gives 404. */
export const dispatch = async (request) => {
  const handler = routes.get(request.path);
  if (!handler) return handleError(request, new Error("not found"), 404);
  try {
    return await handler(request);
  } catch (error) {
    return handleError(request, error, 500);
  }
};

/** Turn an error into a response that tells the reader nothing secret. */
export function handleError(request, error, status) {
  console.error(request.path, error);
  return { status, body: "Something went wrong." };
}
