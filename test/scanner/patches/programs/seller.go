// A seller on net/http, whose guard asks a facilitator itself.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
)

type object = map[string]any

var offer = object{
	"scheme": "exact", "network": "eip155:8453", "amount": "10000",
	"asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
	"payTo": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C", "maxTimeoutSeconds": 300,
	"extra": object{"name": "USD Coin", "version": "2"},
}

func encode(value any) string {
	text, _ := json.Marshal(value)
	return base64.StdEncoding.EncodeToString(text)
}

func ask(path string, payment object) object {
	body, _ := json.Marshal(object{"x402Version": 2, "paymentPayload": payment, "paymentRequirements": offer})
	answer := object{}
	response, err := http.Post(os.Getenv("FACILITATOR_URL")+path, "application/json", bytes.NewReader(body))
	if err == nil {
		defer response.Body.Close()
		_ = json.NewDecoder(response.Body).Decode(&answer)
	}
	return answer
}

func refuse(w http.ResponseWriter, r *http.Request, reason any) {
	w.Header().Set("PAYMENT-REQUIRED", encode(object{
		"x402Version": 2, "error": reason, "accepts": []any{offer},
		"resource": object{"url": "http://" + r.Host + "/weather", "description": "Weather", "mimeType": "application/json"},
	}))
	w.WriteHeader(http.StatusPaymentRequired)
}

func sell(w http.ResponseWriter, r *http.Request) {
	var payment object
	raw, _ := base64.StdEncoding.DecodeString(r.Header.Get("PAYMENT-SIGNATURE"))
	if json.Unmarshal(raw, &payment) != nil {
		refuse(w, r, "payment required")
		return
	}
	if verified := ask("/verify", payment); verified["isValid"] != true {
		refuse(w, r, verified["invalidReason"])
		return
	}
	settled := ask("/settle", payment)
	if settled["success"] != true {
		refuse(w, r, settled["errorReason"])
		return
	}
	w.Header().Set("PAYMENT-RESPONSE", encode(settled))
	writeJSON(w, object{"sky": "clear"})
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

func newSeller() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/weather", sell)
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, object{"status": "ok"}) })
	return mux
}
