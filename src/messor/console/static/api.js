/* Sends the request of an API reference page with the member's session; nothing is sent by itself. */
"use strict";

(() => {
  const form = document.querySelector("[data-try]");
  if (!form) return;
  const button = form.querySelector("button");
  const shown = document.querySelector("[data-answer]");
  button.hidden = false;

  const address = () => {
    let path = form.dataset.path;
    const query = new URLSearchParams();
    for (const field of form.querySelectorAll("[data-in]")) {
      const value = field.value.trim();
      if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(value));
      else if (value) query.append(field.name, value);
    }
    const text = query.toString();
    return text ? `${path}?${text}` : path;
  };

  const pretty = async (response) => {
    const text = await response.text();
    try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
  };

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    const headers = { Accept: "application/json, */*" };
    const body = form.querySelector("[data-body]");
    if (form.dataset.method !== "GET") headers["X-CSRF-Token"] = form.dataset.csrf;
    if (body) headers["Content-Type"] = "application/json";
    try {
      const response = await fetch(address(), {
        method: form.dataset.method, headers, body: body ? body.value : undefined, credentials: "same-origin",
        signal: AbortSignal.timeout(15000), /* streams have no end */
      });
      shown.textContent = `${response.status} ${response.statusText}\n${(await pretty(response)).slice(0, 100000)}`;
    } catch (error) {
      shown.textContent = `The request could not be sent: ${error.message}`;
    } finally {
      shown.hidden = false;
      button.disabled = false;
    }
  });
})();
