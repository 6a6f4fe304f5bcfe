/** What ajv makes of the routes, see README.md: generated, not written. */
"use strict";
exports.v05ba4651b94c00cb = validate10;
const schema11 = {"type":"object","properties":{"sort":{"type":"string","enum":["recent","grade"],"description":"\"recent\" (newest scan first, the default) or \"grade\" (best first)."},"category":{"type":"string","enum":["communication","compute","data","developer-tools","media","search","social","storage","travel","other"],"description":"One of communication, compute, data, developer-tools, media, search, social, storage, travel, other."},"verified":{"type":"string","enum":["true","false"],"description":"\"true\" lists only projects of verified owners; \"false\" lists all."},"q":{"type":"string","maxLength":253,"description":"Part of a host, literally; at most 253 characters."},"page":{"type":"string","pattern":"^(0|[1-9][0-9]{0,11})$","description":"Page number from 0, default 0."},"pageSize":{"type":"string","pattern":"^([1-9][0-9]?|100)$","description":"Items on a page: an integer from 1 to 100, default 50."}}};
const func2 = require("ajv/dist/runtime/ucs2length").default;
const pattern0 = new RegExp("^(0|[1-9][0-9]{0,11})$", "u");
const pattern1 = new RegExp("^([1-9][0-9]?|100)$", "u");

function validate10(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.sort !== undefined){
let data0 = data.sort;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate10.errors = [{instancePath:instancePath+"/sort",schemaPath:"#/properties/sort/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.sort.type,parentSchema:schema11.properties.sort,data:data0}];
return false;
}
if(!((data0 === "recent") || (data0 === "grade"))){
validate10.errors = [{instancePath:instancePath+"/sort",schemaPath:"#/properties/sort/enum",keyword:"enum",params:{allowedValues: schema11.properties.sort.enum},message:"must be equal to one of the allowed values",schema:schema11.properties.sort.enum,parentSchema:schema11.properties.sort,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.category !== undefined){
let data1 = data.category;
const _errs3 = errors;
if(typeof data1 !== "string"){
validate10.errors = [{instancePath:instancePath+"/category",schemaPath:"#/properties/category/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.category.type,parentSchema:schema11.properties.category,data:data1}];
return false;
}
if(!((((((((((data1 === "communication") || (data1 === "compute")) || (data1 === "data")) || (data1 === "developer-tools")) || (data1 === "media")) || (data1 === "search")) || (data1 === "social")) || (data1 === "storage")) || (data1 === "travel")) || (data1 === "other"))){
validate10.errors = [{instancePath:instancePath+"/category",schemaPath:"#/properties/category/enum",keyword:"enum",params:{allowedValues: schema11.properties.category.enum},message:"must be equal to one of the allowed values",schema:schema11.properties.category.enum,parentSchema:schema11.properties.category,data:data1}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.verified !== undefined){
let data2 = data.verified;
const _errs5 = errors;
if(typeof data2 !== "string"){
validate10.errors = [{instancePath:instancePath+"/verified",schemaPath:"#/properties/verified/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.verified.type,parentSchema:schema11.properties.verified,data:data2}];
return false;
}
if(!((data2 === "true") || (data2 === "false"))){
validate10.errors = [{instancePath:instancePath+"/verified",schemaPath:"#/properties/verified/enum",keyword:"enum",params:{allowedValues: schema11.properties.verified.enum},message:"must be equal to one of the allowed values",schema:schema11.properties.verified.enum,parentSchema:schema11.properties.verified,data:data2}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.q !== undefined){
let data3 = data.q;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data3 === "string"){
if(func2(data3) > 253){
validate10.errors = [{instancePath:instancePath+"/q",schemaPath:"#/properties/q/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters",schema:253,parentSchema:schema11.properties.q,data:data3}];
return false;
}
}
else {
validate10.errors = [{instancePath:instancePath+"/q",schemaPath:"#/properties/q/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.q.type,parentSchema:schema11.properties.q,data:data3}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.page !== undefined){
let data4 = data.page;
const _errs9 = errors;
if(errors === _errs9){
if(typeof data4 === "string"){
if(!pattern0.test(data4)){
validate10.errors = [{instancePath:instancePath+"/page",schemaPath:"#/properties/page/pattern",keyword:"pattern",params:{pattern: "^(0|[1-9][0-9]{0,11})$"},message:"must match pattern \""+"^(0|[1-9][0-9]{0,11})$"+"\"",schema:"^(0|[1-9][0-9]{0,11})$",parentSchema:schema11.properties.page,data:data4}];
return false;
}
}
else {
validate10.errors = [{instancePath:instancePath+"/page",schemaPath:"#/properties/page/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.page.type,parentSchema:schema11.properties.page,data:data4}];
return false;
}
}
var valid0 = _errs9 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.pageSize !== undefined){
let data5 = data.pageSize;
const _errs11 = errors;
if(errors === _errs11){
if(typeof data5 === "string"){
if(!pattern1.test(data5)){
validate10.errors = [{instancePath:instancePath+"/pageSize",schemaPath:"#/properties/pageSize/pattern",keyword:"pattern",params:{pattern: "^([1-9][0-9]?|100)$"},message:"must match pattern \""+"^([1-9][0-9]?|100)$"+"\"",schema:"^([1-9][0-9]?|100)$",parentSchema:schema11.properties.pageSize,data:data5}];
return false;
}
}
else {
validate10.errors = [{instancePath:instancePath+"/pageSize",schemaPath:"#/properties/pageSize/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema11.properties.pageSize.type,parentSchema:schema11.properties.pageSize,data:data5}];
return false;
}
}
var valid0 = _errs11 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
}
else {
validate10.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema11.type,parentSchema:schema11,data}];
return false;
}
}
validate10.errors = vErrors;
return errors === 0;
}

exports.v41b240c476f4d058 = validate11;
const schema12 = {"type":"object","required":["id"],"properties":{"id":{"type":"string","maxLength":10}}};

function validate11(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.id === undefined) && (missing0 = "id")){
validate11.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema12.required,parentSchema:schema12,data}];
return false;
}
else {
if(data.id !== undefined){
let data0 = data.id;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(func2(data0) > 10){
validate11.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/maxLength",keyword:"maxLength",params:{limit: 10},message:"must NOT have more than 10 characters",schema:10,parentSchema:schema12.properties.id,data:data0}];
return false;
}
}
else {
validate11.errors = [{instancePath:instancePath+"/id",schemaPath:"#/properties/id/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema12.properties.id.type,parentSchema:schema12.properties.id,data:data0}];
return false;
}
}
}
}
}
else {
validate11.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema12.type,parentSchema:schema12,data}];
return false;
}
}
validate11.errors = vErrors;
return errors === 0;
}

exports.v5b181438defb72ab = validate12;
const schema13 = {"type":"object","required":["url"],"properties":{"url":{"type":"string","description":"The https URL that is going to be paid, path and query too."},"method":{"type":"string","enum":["GET","POST","PUT","PATCH","DELETE"],"description":"Default GET. Other methods are answered from stored reports, never sent."},"maxPrice":{"type":"string","pattern":"^[0-9]{1,30}([.][0-9]{1,30})?$","description":"In whole units of the asset, such as \"0.05\": dearer is a no-go."}}};
const pattern2 = new RegExp("^[0-9]{1,30}([.][0-9]{1,30})?$", "u");

function validate12(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.url === undefined) && (missing0 = "url")){
validate12.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema13.required,parentSchema:schema13,data}];
return false;
}
else {
if(data.url !== undefined){
let data0 = data.url;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate12.errors = [{instancePath:instancePath+"/url",schemaPath:"#/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema13.properties.url.type,parentSchema:schema13.properties.url,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.method !== undefined){
let data1 = data.method;
const _errs3 = errors;
if(typeof data1 !== "string"){
validate12.errors = [{instancePath:instancePath+"/method",schemaPath:"#/properties/method/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema13.properties.method.type,parentSchema:schema13.properties.method,data:data1}];
return false;
}
if(!(((((data1 === "GET") || (data1 === "POST")) || (data1 === "PUT")) || (data1 === "PATCH")) || (data1 === "DELETE"))){
validate12.errors = [{instancePath:instancePath+"/method",schemaPath:"#/properties/method/enum",keyword:"enum",params:{allowedValues: schema13.properties.method.enum},message:"must be equal to one of the allowed values",schema:schema13.properties.method.enum,parentSchema:schema13.properties.method,data:data1}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.maxPrice !== undefined){
let data2 = data.maxPrice;
const _errs5 = errors;
if(errors === _errs5){
if(typeof data2 === "string"){
if(!pattern2.test(data2)){
validate12.errors = [{instancePath:instancePath+"/maxPrice",schemaPath:"#/properties/maxPrice/pattern",keyword:"pattern",params:{pattern: "^[0-9]{1,30}([.][0-9]{1,30})?$"},message:"must match pattern \""+"^[0-9]{1,30}([.][0-9]{1,30})?$"+"\"",schema:"^[0-9]{1,30}([.][0-9]{1,30})?$",parentSchema:schema13.properties.maxPrice,data:data2}];
return false;
}
}
else {
validate12.errors = [{instancePath:instancePath+"/maxPrice",schemaPath:"#/properties/maxPrice/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema13.properties.maxPrice.type,parentSchema:schema13.properties.maxPrice,data:data2}];
return false;
}
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
else {
validate12.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema13.type,parentSchema:schema13,data}];
return false;
}
}
validate12.errors = vErrors;
return errors === 0;
}

exports.v642924d01b25108e = validate13;
const schema14 = {"type":"object","properties":{"q":{"type":"string","maxLength":253},"page":{"type":"string","pattern":"^\\d{1,6}$"}}};
const pattern3 = new RegExp("^\\d{1,6}$", "u");

function validate13(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
if(data.q !== undefined){
let data0 = data.q;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(func2(data0) > 253){
validate13.errors = [{instancePath:instancePath+"/q",schemaPath:"#/properties/q/maxLength",keyword:"maxLength",params:{limit: 253},message:"must NOT have more than 253 characters",schema:253,parentSchema:schema14.properties.q,data:data0}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/q",schemaPath:"#/properties/q/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.q.type,parentSchema:schema14.properties.q,data:data0}];
return false;
}
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.page !== undefined){
let data1 = data.page;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 === "string"){
if(!pattern3.test(data1)){
validate13.errors = [{instancePath:instancePath+"/page",schemaPath:"#/properties/page/pattern",keyword:"pattern",params:{pattern: "^\\d{1,6}$"},message:"must match pattern \""+"^\\d{1,6}$"+"\"",schema:"^\\d{1,6}$",parentSchema:schema14.properties.page,data:data1}];
return false;
}
}
else {
validate13.errors = [{instancePath:instancePath+"/page",schemaPath:"#/properties/page/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema14.properties.page.type,parentSchema:schema14.properties.page,data:data1}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
else {
validate13.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema14.type,parentSchema:schema14,data}];
return false;
}
}
validate13.errors = vErrors;
return errors === 0;
}

exports.vb98ebb3cdaf81acc = validate14;
const schema15 = {"type":"object","required":["url"],"properties":{"url":{"type":"string","description":"An https URL or a bare host, such as https://api.example.com; path, query and fragment are dropped."},"listed":{"type":"boolean","description":"false removes the origin from the directory."},"suppressEnrichment":{"type":"boolean","description":"true hides the branding copied from the origin."},"listingKey":{"type":"string","maxLength":128,"description":"The listingKey that POST /v1/verify/start answered beside the token."}}};

function validate14(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.url === undefined) && (missing0 = "url")){
validate14.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema15.required,parentSchema:schema15,data}];
return false;
}
else {
if(data.url !== undefined){
let data0 = data.url;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate14.errors = [{instancePath:instancePath+"/url",schemaPath:"#/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema15.properties.url.type,parentSchema:schema15.properties.url,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.listed !== undefined){
let data1 = data.listed;
const _errs3 = errors;
if(typeof data1 !== "boolean"){
validate14.errors = [{instancePath:instancePath+"/listed",schemaPath:"#/properties/listed/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema15.properties.listed.type,parentSchema:schema15.properties.listed,data:data1}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.suppressEnrichment !== undefined){
let data2 = data.suppressEnrichment;
const _errs5 = errors;
if(typeof data2 !== "boolean"){
validate14.errors = [{instancePath:instancePath+"/suppressEnrichment",schemaPath:"#/properties/suppressEnrichment/type",keyword:"type",params:{type: "boolean"},message:"must be boolean",schema:schema15.properties.suppressEnrichment.type,parentSchema:schema15.properties.suppressEnrichment,data:data2}];
return false;
}
var valid0 = _errs5 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.listingKey !== undefined){
let data3 = data.listingKey;
const _errs7 = errors;
if(errors === _errs7){
if(typeof data3 === "string"){
if(func2(data3) > 128){
validate14.errors = [{instancePath:instancePath+"/listingKey",schemaPath:"#/properties/listingKey/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema15.properties.listingKey,data:data3}];
return false;
}
}
else {
validate14.errors = [{instancePath:instancePath+"/listingKey",schemaPath:"#/properties/listingKey/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema15.properties.listingKey.type,parentSchema:schema15.properties.listingKey,data:data3}];
return false;
}
}
var valid0 = _errs7 === errors;
}
else {
var valid0 = true;
}
}
}
}
}
}
else {
validate14.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema15.type,parentSchema:schema15,data}];
return false;
}
}
validate14.errors = vErrors;
return errors === 0;
}

exports.vc49a9d4087cc0fa0 = validate15;
const schema16 = {"type":"object","required":["url"],"properties":{"url":{"type":"string","description":"An https URL or a bare host, such as https://api.example.com; path, query and fragment are dropped."},"listingKey":{"type":"string","maxLength":128,"description":"The listingKey that POST /v1/verify/start answered beside the token."}}};

function validate15(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.url === undefined) && (missing0 = "url")){
validate15.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema16.required,parentSchema:schema16,data}];
return false;
}
else {
if(data.url !== undefined){
let data0 = data.url;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate15.errors = [{instancePath:instancePath+"/url",schemaPath:"#/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema16.properties.url.type,parentSchema:schema16.properties.url,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.listingKey !== undefined){
let data1 = data.listingKey;
const _errs3 = errors;
if(errors === _errs3){
if(typeof data1 === "string"){
if(func2(data1) > 128){
validate15.errors = [{instancePath:instancePath+"/listingKey",schemaPath:"#/properties/listingKey/maxLength",keyword:"maxLength",params:{limit: 128},message:"must NOT have more than 128 characters",schema:128,parentSchema:schema16.properties.listingKey,data:data1}];
return false;
}
}
else {
validate15.errors = [{instancePath:instancePath+"/listingKey",schemaPath:"#/properties/listingKey/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema16.properties.listingKey.type,parentSchema:schema16.properties.listingKey,data:data1}];
return false;
}
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate15.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema16.type,parentSchema:schema16,data}];
return false;
}
}
validate15.errors = vErrors;
return errors === 0;
}

exports.vcc0b080496f72608 = validate16;
const schema17 = {"type":"object","required":["host"],"properties":{"host":{"type":"string","description":"A host or URL, such as api.example.com."}}};

function validate16(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.host === undefined) && (missing0 = "host")){
validate16.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema17.required,parentSchema:schema17,data}];
return false;
}
else {
if(data.host !== undefined){
let data0 = data.host;
if(typeof data0 !== "string"){
validate16.errors = [{instancePath:instancePath+"/host",schemaPath:"#/properties/host/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema17.properties.host.type,parentSchema:schema17.properties.host,data:data0}];
return false;
}
}
}
}
else {
validate16.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema17.type,parentSchema:schema17,data}];
return false;
}
}
validate16.errors = vErrors;
return errors === 0;
}

exports.vdc83510d6b47d109 = validate17;
const schema18 = {"type":"object","required":["host"],"properties":{"host":{"type":"string","maxLength":300}}};

function validate17(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.host === undefined) && (missing0 = "host")){
validate17.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema18.required,parentSchema:schema18,data}];
return false;
}
else {
if(data.host !== undefined){
let data0 = data.host;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(func2(data0) > 300){
validate17.errors = [{instancePath:instancePath+"/host",schemaPath:"#/properties/host/maxLength",keyword:"maxLength",params:{limit: 300},message:"must NOT have more than 300 characters",schema:300,parentSchema:schema18.properties.host,data:data0}];
return false;
}
}
else {
validate17.errors = [{instancePath:instancePath+"/host",schemaPath:"#/properties/host/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema18.properties.host.type,parentSchema:schema18.properties.host,data:data0}];
return false;
}
}
}
}
}
else {
validate17.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema18.type,parentSchema:schema18,data}];
return false;
}
}
validate17.errors = vErrors;
return errors === 0;
}

exports.ve0f98a506101ec1f = validate18;
const schema19 = {"type":"object","required":["file"],"properties":{"file":{"type":"string","maxLength":300}}};

function validate18(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.file === undefined) && (missing0 = "file")){
validate18.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema19.required,parentSchema:schema19,data}];
return false;
}
else {
if(data.file !== undefined){
let data0 = data.file;
const _errs1 = errors;
if(errors === _errs1){
if(typeof data0 === "string"){
if(func2(data0) > 300){
validate18.errors = [{instancePath:instancePath+"/file",schemaPath:"#/properties/file/maxLength",keyword:"maxLength",params:{limit: 300},message:"must NOT have more than 300 characters",schema:300,parentSchema:schema19.properties.file,data:data0}];
return false;
}
}
else {
validate18.errors = [{instancePath:instancePath+"/file",schemaPath:"#/properties/file/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema19.properties.file.type,parentSchema:schema19.properties.file,data:data0}];
return false;
}
}
}
}
}
else {
validate18.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema19.type,parentSchema:schema19,data}];
return false;
}
}
validate18.errors = vErrors;
return errors === 0;
}

exports.ve3609a00b20ad4fa = validate19;
const schema20 = {"type":"object","required":["url"],"properties":{"url":{"type":"string","description":"An https URL or a bare host, such as https://api.example.com; path, query and fragment are dropped."}}};

function validate19(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.url === undefined) && (missing0 = "url")){
validate19.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema20.required,parentSchema:schema20,data}];
return false;
}
else {
if(data.url !== undefined){
let data0 = data.url;
if(typeof data0 !== "string"){
validate19.errors = [{instancePath:instancePath+"/url",schemaPath:"#/properties/url/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema20.properties.url.type,parentSchema:schema20.properties.url,data:data0}];
return false;
}
}
}
}
else {
validate19.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema20.type,parentSchema:schema20,data}];
return false;
}
}
validate19.errors = vErrors;
return errors === 0;
}

exports.ve4817c1dc5282c0b = validate20;
const schema21 = {"type":"object","required":["since"],"properties":{"since":{"type":"string","description":"ISO 8601 instant with an offset, such as 2026-08-14T00:00:00Z; exclusive."},"limit":{"type":"string","description":"An integer from 1 to 1000, default 100."}}};

function validate20(data, {instancePath="", parentData, parentDataProperty, rootData=data}={}){
let vErrors = null;
let errors = 0;
if(errors === 0){
if(data && typeof data == "object" && !Array.isArray(data)){
let missing0;
if((data.since === undefined) && (missing0 = "since")){
validate20.errors = [{instancePath,schemaPath:"#/required",keyword:"required",params:{missingProperty: missing0},message:"must have required property '"+missing0+"'",schema:schema21.required,parentSchema:schema21,data}];
return false;
}
else {
if(data.since !== undefined){
let data0 = data.since;
const _errs1 = errors;
if(typeof data0 !== "string"){
validate20.errors = [{instancePath:instancePath+"/since",schemaPath:"#/properties/since/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema21.properties.since.type,parentSchema:schema21.properties.since,data:data0}];
return false;
}
var valid0 = _errs1 === errors;
}
else {
var valid0 = true;
}
if(valid0){
if(data.limit !== undefined){
let data1 = data.limit;
const _errs3 = errors;
if(typeof data1 !== "string"){
validate20.errors = [{instancePath:instancePath+"/limit",schemaPath:"#/properties/limit/type",keyword:"type",params:{type: "string"},message:"must be string",schema:schema21.properties.limit.type,parentSchema:schema21.properties.limit,data:data1}];
return false;
}
var valid0 = _errs3 === errors;
}
else {
var valid0 = true;
}
}
}
}
else {
validate20.errors = [{instancePath,schemaPath:"#/type",keyword:"type",params:{type: "object"},message:"must be object",schema:schema21.type,parentSchema:schema21,data}];
return false;
}
}
validate20.errors = vErrors;
return errors === 0;
}
